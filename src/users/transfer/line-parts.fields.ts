import * as z from 'zod'
import type { Scope } from '../../core/scopes.ts'
import { isIdpId } from '../../schema/idp-id.ts'
import { boolean, integer, requiredText, text } from '../../schema/input-shapes.ts'
import { slugText } from '../../schema/slug.ts'
import { tokenName } from '../../schema/token-name.ts'

const MAX_IDENTITIES = 20
const MAX_PASSKEYS = 100
/** Roles, groups and organizations of a line, and roles and groups of each organization. */
const MAX_NAMES = 100
const MAX_ORGANIZATIONS = 100
/** WebAuthn Level 3, sections 4 and 5.4.3. */
const MAX_CREDENTIAL_ID_BYTES = 1023
const MAX_USER_HANDLE_BYTES = 64
const MAX_PUBLIC_KEY_BYTES = 2048

const listOf = <Entry extends z.ZodType>(entry: Entry, max: number) =>
  z.array(entry, 'must be an array').max(max, `must have at most ${max} entries`)
const objectOf = <Members extends z.ZodRawShape>(members: Members) =>
  z.strictObject(members, 'must be an object')

/** Bytes in base64 or base64url, which are stored in base64url. */
const encodedBytes = (max: number) =>
  text(Math.ceil(max / 3) * 4)
    .regex(/^[\w+/-]+={0,2}$/, 'must be bytes in base64url')
    .transform((value) => Buffer.from(value, 'base64').toString('base64url'))
    .refine((value) => value !== '' && value.length * 0.75 <= max, `must have 1 to ${max} bytes`)

const passkey = objectOf({
  id: encodedBytes(MAX_CREDENTIAL_ID_BYTES).meta({
    description: 'The credential id, in base64url.',
    example: 'q7n4Fq2cTbGZ5l2YB1nKUw',
  }),
  publicKey: encodedBytes(MAX_PUBLIC_KEY_BYTES).meta({
    description: 'The public key as COSE_Key (RFC 9052, section 7), in base64url: ES256, EdDSA or RS256.',
    example: 'pQECAyYgASFYIBQ0',
  }),
  userHandle: encodedBytes(MAX_USER_HANDLE_BYTES).meta({
    description: 'The id of the user that the authenticator has stored with it, in base64url.',
    example: 'YjBjN2EzZjItMDAwMA',
  }),
  rpId: requiredText(253).meta({
    description: 'The RP ID that it was created for, which must be that of this deployment.',
    example: 'id.example.com',
  }),
  signCount: integer(0, 4_294_967_295)
    .nullish()
    .meta({ description: 'The counter of its last use; 0 by default.', example: 0 }),
  transports: listOf(requiredText(30), 10)
    .nullish()
    .meta({ description: 'How browsers reach the authenticator.', example: ['internal'] }),
})

const names = (description: string, example: string) =>
  listOf(tokenName, MAX_NAMES)
    .optional()
    .meta({ description, example: [example] })
const groupNames = (description: string) =>
  listOf(requiredText(200), MAX_NAMES)
    .optional()
    .meta({ description, example: ['Order desk'] })

const organization = objectOf({
  slug: slugText.nullish().meta({ description: 'Slug of the organization.', example: 'acme' }),
  externalId: requiredText(255).nullish().meta({
    description: 'Its identifier in the source system, which is compared first.',
    example: 'crm-4711',
  }),
  name: requiredText(200).nullish().meta({
    description: 'The name of an organization that is created; by default its slug.',
    example: 'Acme Inc.',
  }),
  isAdministrator: boolean.nullish().meta({
    description:
      'Whether the user becomes an administrator of the organization, which voids enrollment links and the old password of the user. One who is it stays so.',
    example: false,
  }),
  appRoles: names('Names of the roles that the user gets in the organization.', 'order-clerk'),
  groups: groupNames('Names of the groups of the organization that the user joins.'),
}).refine(({ slug, externalId }) => slug || externalId, {
  path: ['slug'],
  error: 'is required without externalId',
})

/** What a line may have besides the fields of a user. The domain that stores it writes it. */
export const LINE_PARTS = {
  totpKey: text(256)
    .transform((key) => key.replace(/[\s=-]/g, '').toUpperCase())
    .refine((key) => /^[A-Z2-7]{16,128}$/.test(key), 'must be a key in base32 of at least ten bytes')
    .optional()
    .meta({
      description:
        'The key of the authenticator app of the user, in base32, for codes of six digits that change every 30 seconds. A user who has an app keeps it.',
      example: 'JBSWY3DPEHPK3PXP',
    }),
  identities: listOf(
    objectOf({
      idpId: text(64).refine(isIdpId, 'must be the id of an identity provider').meta({ example: 'google' }),
      externalId: text(255).meta({ example: '248289761001' }),
    }),
    MAX_IDENTITIES,
  )
    .optional()
    .meta({
      description:
        'The identities of the user at identity providers of the tenant, which the caller asserts. A user who has one there keeps it.',
    }),
  passkeys: listOf(passkey, MAX_PASSKEYS).optional().meta({
    description: 'Passkeys of the user, where the RP ID stays. Passkeys that exist stay as they are.',
  }),
  appRoles: names(
    'Names of roles at APIs that the user gets, besides those that the user has.',
    'order-clerk',
  ),
  groups: groupNames(
    'Names of groups of the tenant that the user joins. A group that does not exist is created.',
  ),
  organizations: listOf(organization, MAX_ORGANIZATIONS).optional().meta({
    description:
      'Organizations of which the user becomes a member. One that does not exist is created; one that exists stays as it is.',
  }),
}
export type PartName = keyof typeof LINE_PARTS
export type LineParts = { [Name in PartName]?: z.output<(typeof LINE_PARTS)[Name]> }

/** The scopes that a part needs in an import, and in an export. A part without a reader is never exported. */
export const PART_SCOPES: Record<PartName, { write: Scope; read?: Scope }> = {
  totpKey: { write: 'credentials:write' },
  identities: { write: 'idps:write' },
  passkeys: { write: 'credentials:write', read: 'credentials:read' },
  appRoles: { write: 'roles:write', read: 'roles:read' },
  groups: { write: 'roles:write', read: 'roles:read' },
  organizations: { write: 'organizations:write', read: 'organizations:read' },
}

/** The scopes that the parts of a line need. */
export function listPartScopes(parts: LineParts): Scope[] {
  const given = (Object.keys(PART_SCOPES) as PartName[]).filter((name) => (parts[name]?.length ?? 0) > 0)
  const hasRoles = parts.organizations?.some(({ appRoles, groups }) => appRoles?.length || groups?.length)
  return [...given.map((name) => PART_SCOPES[name].write), ...(hasRoles ? ['roles:write' as const] : [])]
}
