import { z } from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { SIGN_UP_MODES } from '../core/sign-up.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { oneOf, text } from '../schema/input-shapes.ts'

const MAX_DOMAINS = 100

/** The normalized domain of an e-mail address, or null. */
const toDomainKey = (domain: string): string | null => toEmailKey(`x@${domain}`)?.slice(2) ?? null

const domain = text(253)
  .refine((value) => toDomainKey(value) !== null, 'must be a domain such as example.com')
  .transform((value) => toDomainKey(value) ?? value)

/** Settings of the sign-up, in the order of the API. Null is the default. */
export const signUpSettings = {
  signUp: oneOf(SIGN_UP_MODES)
    .nullable()
    .transform((mode) => mode ?? 'off')
    .optional(),
  signUpDomains: z
    .array(domain, 'must be an array')
    .max(MAX_DOMAINS, `must have at most ${MAX_DOMAINS} entries`)
    .nullable()
    .transform((domains) => [...new Set(domains ?? [])])
    .optional(),
}

/** The response shapes of the same settings. */
export const signUpSettingShapes = {
  signUp: z.enum(SIGN_UP_MODES),
  signUpDomains: z.array(z.string()),
}

/** Examples of the same settings, for openapi.json. */
export const signUpSamples = { signUp: 'domains', signUpDomains: ['example.com'] }

/** Issues of settings that do not fit together. */
export const findSignUpIssues = (settings: { signUp?: string; signUpDomains?: string[] }): FieldIssue[] =>
  settings.signUp === 'domains' && !settings.signUpDomains?.length
    ? [{ field: 'signUpDomains', description: 'must not be empty while signUp is domains' }]
    : []
