import type { VNode } from 'preact'
import { ErrorMessage, toSafeLink } from '../pages/page-shell.pages.tsx'
import { FieldInput } from './field-input.pages.tsx'
import type { SignUpField } from './sign-up-fields.ts'

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

/** What a new user is asked for, and what was entered. */
export type AccountEntries = {
  fields: readonly SignUpField[]
  terms: PageTerms
  /** The entered values and what is wrong with each, by the name of the field. */
  values?: Record<string, string>
  issues?: Record<string, string>
}

/** The fields of a new account, for a form. */
export function AccountFields({ fields, terms, values = {}, issues = {} }: AccountEntries): VNode {
  const focused = fields.find(({ name }) => issues[name]) ?? fields[0]
  return (
    <>
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
    </>
  )
}
