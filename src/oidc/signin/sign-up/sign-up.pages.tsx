import type { VNode } from 'preact'
import {
  BidiText,
  ErrorMessage,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../../pages/page-shell.pages.tsx'
import { type AccountEntries, AccountFields } from '../../../sign-up/account-fields.pages.tsx'
import { CancelForm } from '../cancel.pages.tsx'

type SignUpPageProps = AccountEntries & {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** The proven address. */
  address: string
  /** An error that is of no field, as a sentence. */
  error?: string | null
}

/**
 * Asks for the fields of a new account after its address was proven. Posts `step=create` and the fields,
 * `step=restart` for another address, or `step=cancel`.
 */
export function SignUpPage({
  tenant,
  client,
  interaction,
  address,
  fields,
  terms,
  values = {},
  issues = {},
  error,
}: SignUpPageProps): VNode {
  return (
    <PageShell
      title="Create your account"
      lead={
        <>
          with <BidiText>{address}</BidiText>, to continue to <BidiText>{client.name}</BidiText>
        </>
      }
      tenant={tenant}
      client={client}
      isError={Boolean(error) || Object.keys(issues).length > 0}
    >
      {error && <ErrorMessage>{error}</ErrorMessage>}
      <StepForm interaction={interaction} step="create" class="stack">
        <AccountFields fields={fields} terms={terms} values={values} issues={issues} />
        <button type="submit" class="primary">
          Create account
        </button>
      </StepForm>
      <div class="alternatives">
        <StepForm interaction={interaction} step="restart">
          <button type="submit" class="quiet">
            Use another address
          </button>
        </StepForm>
        <CancelForm interaction={interaction} />
      </div>
    </PageShell>
  )
}
