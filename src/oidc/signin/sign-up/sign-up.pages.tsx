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
import { CancelForm } from '../cancel.pages.tsx'
import type { SignUpField } from './sign-up-fields.ts'

type SignUpPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** The proven address. */
  address: string
  fields: readonly SignUpField[]
  /** The entered values and what is wrong with each, by the name of the field. */
  values?: Record<string, string>
  issues?: Record<string, string>
  /** An error that is of no field, as a sentence. */
  error?: string | null
}

type FieldInputProps = { field: SignUpField; value?: string; issue?: string; isFirst: boolean }

const FieldInput = ({ field, value, issue, isFirst }: FieldInputProps): VNode => {
  const id = `field-${field.name}`
  return (
    <div class="field">
      <label for={id}>{field.isRequired ? field.label : `${field.label} (optional)`}</label>
      <input
        id={id}
        name={field.name}
        type="text"
        autocomplete={field.autocomplete}
        dir="auto"
        required={field.isRequired}
        autofocus={isFirst}
        value={value ?? ''}
        aria-invalid={issue ? 'true' : undefined}
        aria-describedby={issue ? `${id}-error` : undefined}
      />
      {issue && <ErrorMessage id={`${id}-error`}>{`${field.label} ${issue}.`}</ErrorMessage>}
    </div>
  )
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
  values = {},
  issues = {},
  error,
}: SignUpPageProps): VNode {
  const focused = fields.find(({ name }) => issues[name]) ?? fields[0]
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
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={values[field.name]}
            issue={issues[field.name]}
            isFirst={field === focused}
          />
        ))}
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
