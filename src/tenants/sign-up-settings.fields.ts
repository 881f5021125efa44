import * as z from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { INVITATION_LIFETIME_SECONDS, SIGN_UP_MODES } from '../core/sign-up.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { integer, oneOf, text } from '../schema/input-shapes.ts'
import { createAllowedUrl } from '../schema/url-shapes.ts'
import { signUpFields, signUpFieldsShape } from './sign-up-fields.fields.ts'

const MAX_DOMAINS = 100
const { min, max, standard } = INVITATION_LIFETIME_SECONDS

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
/** A domain name in ASCII (RFC 1035, section 2.3.1; RFC 5890), which is not an IPv4 address. */
const DOMAIN_SYNTAX = new RegExp(`^(?!(?:.*\\.)?[0-9]+$)${LABEL}(?:\\.${LABEL})*$`)

const domain = text(253)
  .refine(
    (value) => DOMAIN_SYNTAX.test(value) && toEmailKey(`x@${value}`) !== null,
    'must be a domain in ASCII, such as example.com or xn--bcher-kva.example',
  )
  .transform((value) => value.toLowerCase())
  .meta({ pattern: DOMAIN_SYNTAX.source, example: 'example.com' })

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
  signUpFields,
  invitationLifetimeSeconds: integer(min, max)
    .nullable()
    .transform((seconds) => seconds ?? standard)
    .optional(),
}

/** Texts of the sign-up, in the order of the API. */
export const termsSettings = {
  termsUrl: createAllowedUrl({ fragment: true }),
  termsVersion: text(100),
  privacyUrl: createAllowedUrl({ fragment: true }),
}

/** The response shapes of the same settings. */
export const signUpSettingShapes = {
  signUp: z.enum(SIGN_UP_MODES),
  signUpDomains: z.array(z.string()),
  signUpFields: signUpFieldsShape,
  invitationLifetimeSeconds: z.int(),
}

/** Examples of the same settings, for openapi.json. */
export const signUpSamples = {
  signUp: 'domains',
  signUpDomains: ['example.com'],
  signUpFields: [{ field: 'name', required: true, label: null, schema: null }],
  invitationLifetimeSeconds: standard,
  termsUrl: 'https://example.com/terms',
  termsVersion: '2026-11',
  privacyUrl: 'https://example.com/privacy',
}

/** Issues of settings that do not fit together. */
export const findSignUpIssues = (settings: { signUp?: string; signUpDomains?: string[] }): FieldIssue[] =>
  settings.signUp === 'domains' && !settings.signUpDomains?.length
    ? [{ field: 'signUpDomains', description: 'must not be empty while signUp is domains' }]
    : []
