import type { VNode } from 'preact'
import { BidiText, ErrorMessage, StepForm } from '../../../pages/page-shell.pages.tsx'
import { SubmitButton } from '../../../pages/parts/controls.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
import { type AccountEntries, AccountFields } from '../../../sign-up/account-fields.pages.tsx'
import { RestartForm, StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

/** `error` is one that is of no field. */
type SignUpPageProps = StepPageProps &
  AccountEntries & {
    /** The proven address. */
    address: string
  }

/**
 * Asks for the fields of a new account after its address was proven. Posts `step=create` and the fields,
 * `step=restart` for another address, or `step=cancel`.
 */
export function SignUpPage({
  address,
  fields,
  terms,
  values = {},
  issues = {},
  ...page
}: SignUpPageProps): VNode {
  return (
    <StepPage
      {...page}
      title={<Message of="signIn.createTitle" />}
      lead={
        <Message
          of="signUp.withAddress"
          address={<BidiText>{address}</BidiText>}
          client={<BidiText>{page.client.name}</BidiText>}
        />
      }
      isError={Boolean(page.error) || Object.keys(issues).length > 0}
      alternatives={
        <RestartForm interaction={page.interaction}>
          <Message of="code.otherAddress" />
        </RestartForm>
      }
    >
      {page.error && <ErrorMessage>{page.error}</ErrorMessage>}
      <StepForm interaction={page.interaction} step="create" class="stack">
        <AccountFields fields={fields} terms={terms} values={values} issues={issues} />
        <SubmitButton of="signUp.submit" />
      </StepForm>
    </StepPage>
  )
}
