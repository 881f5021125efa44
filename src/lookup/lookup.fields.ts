import * as z from 'zod'
import type { Scope } from '../core/scopes.ts'
import { EventShape } from '../events/list.fields.ts'
import { defineEnum } from '../schema/enums.ts'
import { requiredText } from '../schema/input-shapes.ts'
import { toPhoneNumberKey } from '../schema/phone-numbers.ts'
import { createIdShape, idShape } from '../schema/response-shapes.ts'

/** The kinds of matches: their description, the scope that reading one requires, and one that it requires besides. */
const KINDS = {
  user: { scope: 'users:read', description: 'A user.' },
  session: { scope: 'sessions:read', description: 'An active session.' },
  credential: { scope: 'credentials:read', description: 'A passkey or a second factor.' },
  'idp-user': { scope: 'idps:read', description: 'A linked identity.' },
  'identity-provider': { scope: 'idps:read', description: 'An identity provider.' },
  client: { scope: 'clients:read', description: 'A client.' },
  'registration-token': { scope: 'clients:read', description: 'A registration token.' },
  invitation: { scope: 'users:read', description: 'An invitation.' },
  'api-key': { scope: 'api_keys:read', description: 'An API key.' },
  organization: { scope: 'organizations:read', description: 'An organization.' },
  membership: { scope: 'organizations:read', description: 'A membership in an organization.' },
  'organization-domain': { scope: 'organizations:read', description: 'A domain of an organization.' },
  api: { scope: 'roles:read', description: 'An API of the tenant.' },
  'app-role': { scope: 'roles:read', description: 'A role at APIs.' },
  group: { scope: 'roles:read', description: 'A group.' },
  webhook: { scope: 'webhooks:read', description: 'A webhook.' },
  'webhook-delivery': {
    scope: 'webhooks:read',
    besides: 'events:read',
    description: 'A message of a webhook.',
  },
  'signal-stream': { scope: 'clients:read', description: 'A stream of shared signals.' },
  'bulk-job': { scope: 'users:read', description: 'A change of many users.' },
  'trusted-document': { scope: 'clients:read', description: 'A trusted document.' },
  'signing-key': { scope: 'tenant:read', description: 'A signing key; `id` is its kid.' },
  tenant: {
    scope: 'tenant:read',
    description: 'The tenant; in tenant system any tenant, with the scope tenants:read. `id` is the slug.',
  },
  event: { scope: 'events:read', description: 'An event of the log.' },
  request: { scope: 'events:read', description: 'A request; `event` is its first event.' },
  device: { scope: 'events:read', description: 'A device; `event` is its newest event.' },
  'ip-address': { scope: 'events:read', description: 'An IP address; `event` is the newest event from it.' },
  address: {
    scope: 'events:read',
    description:
      'An e-mail address or a phone number with failed sign-ins, whether or not a user has it; `event` is the newest.',
  },
  subject: {
    scope: 'events:read',
    description:
      'The id of an object that is found in the log alone, such as a grant, or a user who was deleted; `event` is the newest about it.',
  },
} as const satisfies Record<string, { scope: Scope; besides?: Scope; description: string }>
export type LookupKind = keyof typeof KINDS

/** Whether reading a match of the kind is permitted. */
export function isKindReadable(kind: LookupKind, scopes: ReadonlySet<Scope>): boolean {
  const { scope, besides }: { scope: Scope; besides?: Scope } = KINDS[kind]
  return scopes.has(scope) && (besides === undefined || scopes.has(besides))
}

/** A caller needs one of them; a match needs that of its kind. */
export const LOOKUP_SCOPES = [
  ...new Set([...Object.values(KINDS).map(({ scope }) => scope), 'tenants:read']),
] as [Scope, ...Scope[]]

const { shape: kind } = defineEnum(
  'LookupKind',
  'The kind of a match.',
  Object.fromEntries(Object.entries(KINDS).map(([name, { description }]) => [name, description])) as Record<
    LookupKind,
    string
  >,
)

const { shape: matchedBy } = defineEnum('LookupMember', 'The member by which a text matches an object.', {
  id: 'By its id.',
  email: 'By its e-mail address.',
  phoneNumber: 'By its phone number.',
  slug: 'By its slug.',
  externalId: 'By its id in the system that it was imported from.',
  identifier: 'By its identifier.',
  name: 'By its name, which is unique in the tenant.',
  domain: 'By the domain, which is proven.',
  url: 'By its URL.',
  callbacks: 'By one of its redirect URIs.',
  clientUri: 'By its home page.',
  origin: 'By the origin of a redirect URI or of its home page.',
  lastSeenIp: 'By the IP address from which it was last used.',
})
export type LookupMember = z.infer<typeof matchedBy>

export const MAX_MATCHES = 10

/** The plus sign of a phone number that is not encoded in a URL arrives as a space. */
const restorePlus = (text: string): string =>
  /^ [0-9][0-9 ()/-]*$/.test(text) && toPhoneNumberKey(`+${text.slice(1)}`) !== null
    ? `+${text.slice(1)}`
    : text

/** The text, without white space around it. */
export const LookupInput = z.strictObject({
  text: requiredText(512)
    .transform((value) => restorePlus(value).trim())
    .refine((value) => value !== '', 'must not be blank')
    .meta({
      pattern: '\\S',
      description:
        'An id, an e-mail address, a phone number, an IP address, the id of a request, a client id, the slug or domain of an organization, the name of a role or group, or a URL.',
      example: 'ada@example.com',
    }),
})

export const LookupMatchShape = z
  .object({
    kind: kind.meta({ description: 'The kind of the match.', example: 'user' }),
    id: idShape.meta({
      description: 'Id of the object; of the other kinds the text itself.',
      example: 'user_01k7r3m8wxe4gbr5v2c9t6hznq',
    }),
    matchedBy: matchedBy.meta({ description: 'The member by which the text matches.', example: 'email' }),
    name: z.string().nullable().meta({
      description: 'Name of the object, or else its address, domain, URL, type or note; null without one.',
      example: 'Ada Lovelace',
    }),
    userId: createIdShape('user')
      .nullable()
      .meta({ description: 'The user whose object it is; null for other objects.', example: null }),
  })
  .meta({ typeName: 'LookupMatch' })

export const LookupResultShape = z
  .object({
    matches: z
      .array(
        LookupMatchShape.extend({
          event: EventShape.nullable().meta({
            description: 'The event by which it was found; null for objects.',
            example: null,
          }),
        }),
      )
      .meta({ description: `Up to ${MAX_MATCHES}, the best first.` }),
  })
  .meta({ id: 'LookupResult', description: 'The objects, requests and addresses that a text names.' })
