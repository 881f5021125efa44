import { InvalidInput } from '../core/errors.ts'
import type { SignUpField } from './sign-up-fields.ts'
import { toUserFields } from './sign-up-values.ts'
import { readTermsConsent, type TermsConsent, type TermsSettings } from './terms-consent.ts'

/** Reads the members of a new user from a form. Throws InvalidInput that names every invalid field. */
export function readAccountForm(
  tenant: TermsSettings,
  fields: readonly SignUpField[],
  entries: Record<string, string>,
  form: Record<string, string>,
): { fields: Record<string, unknown>; terms: TermsConsent } {
  const { values, issues } = toUserFields(fields, entries)
  const consent = readTermsConsent(tenant, form)
  const all = [...issues, ...consent.issues]
  if (all.length > 0) throw new InvalidInput(all)
  return { fields: values, terms: consent.terms }
}

/** What is wrong with each field of a form, by its name. */
export const toFormIssues = ({ fields }: InvalidInput): Record<string, string> =>
  Object.fromEntries(fields.map(({ field, description }) => [field, description]))
