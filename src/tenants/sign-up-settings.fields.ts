import type { FieldIssue } from '../core/errors.ts'
import { INVITATION_LIFETIME_SECONDS, type SignUpMode } from '../model/sign-up.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { defineEnum } from '../schema/enums.ts'
import { enumField, integerField, listField, textField } from '../schema/fields.ts'
import { text } from '../schema/input-shapes.ts'
import { createAllowedUrl } from '../schema/url-shapes.ts'
import { signUpFields } from './sign-up-fields.fields.ts'

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

const SIGN_UP = defineEnum<SignUpMode>('SignUp', 'Who may create an account on the hosted pages.', {
  off: 'Nobody: callers of the API create users, or invite them.',
  open: 'Anybody with an e-mail address.',
  domains: 'Whoever has an e-mail address of one of signUpDomains.',
  invitation: 'Whoever was invited. The pages say so.',
})

const link = createAllowedUrl({ fragment: true })

/** The settings of the sign-up. */
export const signUpSettings = {
  signUp: enumField(SIGN_UP, 'off', 'domains'),
  signUpDomains: listField(domain, { isPlain: true, example: ['example.com'] }),
  signUpFields,
  invitationLifetimeSeconds: integerField(INVITATION_LIFETIME_SECONDS, INVITATION_LIFETIME_SECONDS.standard),
  termsUrl: textField(link, 'https://example.com/terms'),
  termsVersion: textField(text(100), '2026-11'),
  privacyUrl: textField(link, 'https://example.com/privacy'),
}

/** Issues of settings that do not fit together. */
export const findSignUpIssues = (settings: {
  signUp?: string | undefined
  signUpDomains?: string[] | undefined
}): FieldIssue[] =>
  settings.signUp === 'domains' && !settings.signUpDomains?.length
    ? [{ field: 'signUpDomains', description: 'must not be empty while signUp is domains' }]
    : []
