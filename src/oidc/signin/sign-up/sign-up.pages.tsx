import type { VNode } from 'preact'
import {
  BidiText,
  ErrorMessage,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
  toSafeLink,
} from '../../../pages/page-shell.pages.tsx'
import { CancelForm } from '../cancel.pages.tsx'
import { FieldInput } from './field-input.pages.tsx'
import type { SignUpField } from './sign-up-fields.ts'

type SignUpPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** The proven address. */
  address: string
  fields: readonly SignUpField[]
  terms: PageTerms
  /** The entered values and what is wrong with each, by the name of the field. */
  values?: Record<string, string>
  issues?: Record<string, string>
  /** An error that is of no field, as a sentence. */
  error?: string | null
}

/** What a new user agrees to, and the version that the page shows. */
export type PageTerms = {
  termsUrl?: string | null
  termsVersion?: string | null
  privacyUrl?: string | null
}

const OuterLink = ({ href, children }: { href: string; children: string }): VNode => (
  <a href={href} target="_blank" rel="noopener noreferrer">
    {children}
  </a>
)

/** The consent to the terms of use, or a link to the privacy policy alone. */
function TermsConsent({ terms, issue }: { terms: PageTerms; issue?: string }): VNode | null {
  const [termsUrl, privacyUrl] = [toSafeLink(terms.termsUrl), toSafeLink(terms.privacyUrl)]
  const privacy = privacyUrl ? <OuterLink href={privacyUrl}>Privacy policy</OuterLink> : null
  if (!termsUrl) return privacy && <p class="hint">{privacy}</p>
  return (
    <div class="field">
      <input type="hidden" name="terms-version" value={terms.termsVersion ?? ''} />
      <div class="check">
        <input
          id="terms"
          name="terms"
          type="checkbox"
          value="on"
          required
          aria-invalid={issue ? 'true' : undefined}
          aria-describedby={issue ? 'terms-error' : undefined}
        />
        <label for="terms">I agree to the terms of use.</label>
      </div>
      {issue && <ErrorMessage id="terms-error">{issue}</ErrorMessage>}
      <p class="hint">
        <OuterLink href={termsUrl}>Terms of use</OuterLink>
        {privacy && <> · {privacy}</>}
      </p>
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
  terms,
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
            hasFocus={field === focused}
          />
        ))}
        <TermsConsent terms={terms} issue={issues.terms} />
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
