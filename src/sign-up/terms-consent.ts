import type { Ctx } from '../context/context.ts'
import type { FieldIssue } from '../core/errors.ts'
import { createEvent } from '../events/create-event.ts'
import { createEventRow } from '../events/log.ts'
import type { User } from '../generated/prisma/client.ts'
import { storeTermsConsent } from '../users/users.sql.ts'

export type TermsSettings = { termsUrl: string | null; termsVersion: string | null }

/** The consent of a new user to the terms of use, as columns of the user; null without terms. */
export type TermsConsent = Pick<User, 'termsVersion' | 'termsAcceptedAt'> | null

/** Reads the consent of a form. A version that the page did not show is not accepted. */
export function readTermsConsent(
  { termsUrl, termsVersion }: TermsSettings,
  form: Record<string, string>,
): { terms: TermsConsent; issues: FieldIssue[] } {
  if (termsUrl === null) return { terms: null, issues: [] }
  const reject = (description: string) => ({ terms: null, issues: [{ field: 'terms', description }] })
  if ((form['terms-version'] ?? '') !== (termsVersion ?? ''))
    return reject('The terms of use have changed. Read them and agree again.')
  if (form.terms !== 'on') return reject('Agree to the terms of use to create an account.')
  return { terms: { termsVersion, termsAcceptedAt: new Date() }, issues: [] }
}

/** The version of the terms that every user must have agreed to; null when the tenant names none. */
export const selectRequiredTerms = (tenant: TermsSettings | null): string | null =>
  tenant?.termsUrl ? tenant.termsVersion : null

/** Stores the consent of an existing user. One statement. */
export async function agreeToTerms(ctx: Ctx, userId: string, version: string): Promise<void> {
  const event = createEventRow(ctx, createEvent('user.terms_accepted', { userId }, { version }))
  await storeTermsConsent(ctx.db, { userId, version, now: new Date() }, event)
}
