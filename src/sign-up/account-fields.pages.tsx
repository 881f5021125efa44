import type { ComponentChildren, VNode } from 'preact'
import { toSafeLink } from '../core/network/safe-link.ts'
import { ErrorMessage } from '../pages/page-shell.pages.tsx'
import { Message, Sentence } from '../pages/parts/words.pages.tsx'
import { FieldInput } from './field-input.pages.tsx'
import type { SignUpField } from './sign-up-fields.ts'

/** What a new user agrees to, and the version that the page shows. */
export type PageTerms = {
  termsUrl?: string | null
  termsVersion?: string | null
  privacyUrl?: string | null
}

const OuterLink = ({ href, children }: { href: string; children: ComponentChildren }): VNode => (
  <a href={href} target="_blank" rel="noopener noreferrer">
    {children}
  </a>
)

/** Links to the terms of use and to the privacy policy, if there are any. */
export function TermsLinks({ terms }: { terms: PageTerms }): VNode {
  const [termsUrl, privacyUrl] = [toSafeLink(terms.termsUrl), toSafeLink(terms.privacyUrl)]
  return (
    <>
      {termsUrl && (
        <OuterLink href={termsUrl}>
          <Message of="terms.title" />
        </OuterLink>
      )}
      {termsUrl && privacyUrl && ' · '}
      {privacyUrl && (
        <OuterLink href={privacyUrl}>
          <Message of="terms.privacy" />
        </OuterLink>
      )}
    </>
  )
}

/** The consent to the terms of use, or a link to the privacy policy alone. */
function TermsConsent({
  terms,
  values,
  issue,
}: {
  terms: PageTerms
  values: Record<string, string>
  issue?: string
}): VNode | null {
  // The person has agreed to the version that the page showed.
  const isChecked = values.terms === 'on' && (values['terms-version'] ?? '') === (terms.termsVersion ?? '')
  const links = (
    <p class="hint">
      <TermsLinks terms={terms} />
    </p>
  )
  if (!toSafeLink(terms.termsUrl)) return toSafeLink(terms.privacyUrl) ? links : null
  return (
    <div class="field">
      <input type="hidden" name="terms-version" value={terms.termsVersion ?? ''} />
      <div class="check">
        <input
          id="terms"
          name="terms"
          type="checkbox"
          value="on"
          checked={isChecked}
          required
          aria-invalid={issue ? 'true' : undefined}
          aria-describedby={issue ? 'terms-error' : undefined}
        />
        <label for="terms">
          <Message of="terms.agree" />
        </label>
      </div>
      {issue && (
        <ErrorMessage id="terms-error">
          <Sentence>{issue}</Sentence>
        </ErrorMessage>
      )}
      {links}
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
      <TermsConsent terms={terms} values={values} issue={issues.terms} />
    </>
  )
}
