import { z } from 'zod'
import { SCOPE_NAMES, SYSTEM_TENANT } from '../ctx.ts'
import { env } from '../env.ts'
import { expectedUpdatedAt } from '../expected-updated-at.ts'
import { fetchedUrl } from '../fetched-url.fields.ts'
import { allowedUrl, boolean, clearable, flag, integer, requiredText, text } from '../fields.ts'
import { SIGNING_ALGORITHMS } from '../signing-algorithms.ts'
import { jwkSet } from './client-keys.fields.ts'
import {
  checkAcrossFields,
  NO_SECRET_FIELDS,
  origin,
  REDIRECT_FIELDS,
  redirectUrl,
} from './client-rules.fields.ts'
import { samples } from './client-shapes.fields.ts'
import { APP_TYPES, CLIENT_TYPES } from './client-types.ts'

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, `must be one of: ${values.join(', ')}`)

/** A list; '' and null empty it, as they unset other fields. What stands in it twice counts once. */
const listOf = <Item extends z.ZodType>(item: Item, max = 100) =>
  z
    .preprocess(
      (value) => (value === '' || value === null ? [] : value),
      z.array(item, 'must be an array').max(max, `must have ${max} entries at most`),
    )
    .transform((items) => [...new Set(items)])
    .optional()
    .meta({ type: ['array', 'null'] })

/** The identifier of somebody's API (RFC 8707, section 2): none of this deployment's own, whose tokens are not for others. */
const resourceUri = text(2000)
  .refine((value) => URL.canParse(value), 'must be an absolute URI')
  .refine((value) => !value.includes('#'), 'must not contain a fragment')
  .refine((value) => !/[\s\\]/.test(value), 'must not contain spaces or backslashes')
  .refine(
    (value) => !URL.canParse(value) || new URL(value).origin !== env.baseUrl,
    'belongs to this deployment',
  )

/** Client fields of the spec, in the order of its table, and those of OpenID Connect that it leaves open. */
const fields = {
  description: clearable(text(2000)),
  themeColor: clearable(text().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as #0a7c66')),
  logoUrl: clearable(allowedUrl({ secure: true })),
  callbacks: listOf(redirectUrl),
  allowedOrigins: listOf(origin),
  webOrigins: listOf(origin),
  allowedLogoutUrls: listOf(redirectUrl),
  initiateLoginUrl: clearable(allowedUrl({ secure: true })),
  tokenExpiryTime: clearable(integer(60, 86_400)),
  requireConsent: flag,
  scopes: listOf(oneOf(SCOPE_NAMES as [(typeof SCOPE_NAMES)[number], ...typeof SCOPE_NAMES])),
  jwks: clearable(jwkSet),
  backchannelLogoutUrl: clearable(fetchedUrl({ secure: true })),
  idTokenSigningAlg: clearable(oneOf(SIGNING_ALGORITHMS)),
  userInfoSigningAlg: clearable(oneOf(SIGNING_ALGORITHMS)),
  requirePushedRequests: flag,
  resources: listOf(resourceUri, 20),
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null

/** What creates a client of `tenant`. */
export const clientCreate = (tenant: string) =>
  z
    .strictObject({
      name: requiredText(200),
      appType: oneOf(APP_TYPES),
      ...fields,
      /** Never changes. */
      type: oneOf(CLIENT_TYPES),
      /** Operator clients: their tokens work in every tenant. */
      allTenants: boolean.optional(),
    })
    .superRefine(
      (client, context) =>
        checkAcrossFields(tenant, client, (path, message) =>
          context.addIssue({ code: 'custom', path, message }),
        ),
      { when: ({ value }) => isRecord(value) },
    )

/** The same, for openapi.json. */
export const ClientCreate = clientCreate(SYSTEM_TENANT).meta({ id: 'ClientCreate', model: 'Client', samples })

/** A field that only answers carry: it may come back as it is stored, and is then left out. */
const answered = (isSame: (sent: unknown) => boolean, message = 'is set by the service') =>
  z
    .unknown()
    .refine((sent) => sent === undefined || isSame(sent), message)
    .transform(() => undefined)
    .optional()
    .meta({ readOnly: true })

const isTime = (time: Date) => (sent: unknown) =>
  typeof sent === 'string' && Date.parse(sent) === time.getTime()

/** What a change is checked against: the client as it is. */
export type PatchedClient = {
  id: string
  type: string
  appType: string
  registeredBy: string
  updatedAt: Date
  createdAt: Date
  /** Whether a value is the client's current secret; null where it has none. */
  isSecret: (sent: unknown) => boolean
}

/**
 * What changes a client of `tenant`: omitted is unchanged, '' and null unset. The client must be valid as a whole
 * afterwards; what is neither given nor judged anew (by another app type) is not checked again.
 */
export const clientPatch = (tenant: string, current: PatchedClient) =>
  z
    .strictObject(
      {
        id: answered((sent) => sent === current.id),
        name: requiredText(200).optional(),
        appType: oneOf(APP_TYPES).optional(),
        ...fields,
        type: answered((sent) => sent === current.type, 'cannot be changed'),
        secret: answered(current.isSecret).meta({ description: 'Its current secret, as it is.' }),
        registeredBy: answered((sent) => sent === current.registeredBy),
        updatedAt: answered(isTime(current.updatedAt)),
        createdAt: answered(isTime(current.createdAt)),
        expectedUpdatedAt,
      },
      'must be an object',
    )
    .superRefine(
      (patch, context) => {
        const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
        const isOtherType = given.appType !== undefined && given.appType !== current.appType
        checkAcrossFields(
          tenant,
          { ...current, ...NO_SECRET_FIELDS, ...given },
          (path, message) => context.addIssue({ code: 'custom', path, message }),
          REDIRECT_FIELDS.filter((field) => isOtherType || given[field] !== undefined),
        )
      },
      { when: ({ value }) => isRecord(value) },
    )

/** The same, for openapi.json. */
export const ClientPatch = clientPatch(SYSTEM_TENANT, {} as PatchedClient).meta({
  id: 'ClientPatch',
  model: 'Client',
  example: { name: 'Shop', themeColor: null },
})

export const MAX_OVERLAP_SECONDS = 2_592_000
const DEFAULT_OVERLAP_SECONDS = 86_400

/** How long the secret before lives on when a new one is made. */
export const SecretRotation = z
  .strictObject(
    {
      overlapSeconds: clearable(integer(0, MAX_OVERLAP_SECONDS))
        .transform((value) => value ?? DEFAULT_OVERLAP_SECONDS)
        .meta({
          description:
            'How long the current secret lives on, 0 to 2592000 seconds; a day unless told. One before it ends at once.',
          example: 3600,
        }),
    },
    'must be an object',
  )
  .meta({ id: 'SecretRotation', description: 'How the secret is replaced.' })

export const ClientFilter = z.strictObject({
  type: oneOf(CLIENT_TYPES).nullish(),
  appType: oneOf(APP_TYPES).nullish(),
})
