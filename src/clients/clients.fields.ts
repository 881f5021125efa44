import { z } from 'zod'
import { SCOPE_NAMES, SYSTEM_SCOPES, SYSTEM_TENANT } from '../ctx.ts'
import { env } from '../env.ts'
import { expectedUpdatedAt } from '../expected-updated-at.ts'
import {
  allowedUrl,
  boolean,
  clearable,
  integer,
  requiredText,
  text,
  type UrlRules,
  urlFault,
} from '../fields.ts'
import { idOf, time } from '../shapes.ts'
import { SIGNING_ALGORITHMS } from '../signing-algorithms.ts'
import { jwkSet } from './client-keys.fields.ts'

export const APP_TYPES = ['single-page', 'web', 'native', 'machine'] as const
export type AppType = (typeof APP_TYPES)[number]
/** Apps that can keep a secret. What runs in a browser or on a person's device cannot (RFC 8252, section 8.5). */
export const HAS_SECRET: Record<AppType, boolean> = {
  web: true,
  machine: true,
  'single-page': false,
  native: false,
}
export const CLIENT_TYPES = ['login', 'payment'] as const
export type ClientType = (typeof CLIENT_TYPES)[number]

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

/** http only reaches this machine in production; in development also test hosts of a local network. */
const SECURE: UrlRules = { secure: env.isProduction }

/** Redirect targets are compared byte for byte, so that a pattern would never match: refuse it instead. */
const plainUrl = (rules: UrlRules) =>
  allowedUrl(rules).refine((value) => !value.includes('*'), 'must not contain wildcards')

/** Whether apps of this type may have `url` as a redirect target is checked once the type is known. */
const ANY_REDIRECT: UrlRules = { ...SECURE, customSchemes: true }
const redirectUrl = plainUrl(ANY_REDIRECT)
const origin = plainUrl({ ...SECURE, originOnly: true })

/** What is on or off: unset is off. */
const flag = clearable(boolean).transform((value) => (value === null ? false : value))

/** The identifier of somebody's API (RFC 8707, section 2): none of this deployment's own, whose tokens are not for others. */
const resourceUri = text(2000)
  .refine((value) => URL.canParse(value), 'must be an absolute URI')
  .refine((value) => !value.includes('#'), 'must not contain a fragment')
  .refine(
    (value) => value !== env.baseUrl && !value.startsWith(`${env.baseUrl}/`),
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
  backchannelLogoutUrl: clearable(allowedUrl({ secure: true })),
  idTokenSigningAlg: clearable(oneOf(SIGNING_ALGORITHMS)),
  userInfoSigningAlg: clearable(oneOf(SIGNING_ALGORITHMS)),
  requirePushedRequests: flag,
  resources: listOf(resourceUri, 20),
}

/** Examples of fields, for openapi.json. */
const samples = {
  name: 'Shop',
  description: 'The web shop of Example Inc.',
  appType: 'web',
  themeColor: '#0a7c66',
  logoUrl: 'https://shop.example/logo.png',
  callbacks: ['https://shop.example/callback'],
  allowedOrigins: ['https://shop.example'],
  allowedLogoutUrls: ['https://shop.example/bye'],
  tokenExpiryTime: 3600,
  backchannelLogoutUrl: 'https://shop.example/backchannel-logout',
  idTokenSigningAlg: 'ES256',
  resources: ['https://api.shop.example'],
}

/** Why an app of this type may not be sent to `url`, or null. Only native apps have schemes of their own (RFC 8252, 7.1). */
function redirectFault(appType: AppType, url: string): string | null {
  if (appType === 'machine') return 'a machine client has no browser to send anywhere'
  // On a person's own device, unencrypted http is for the app's loopback listener only (RFC 8252, section 7.3).
  return urlFault(url, appType === 'native' ? { customSchemes: true, secure: true } : SECURE)
}

type Unchecked = Record<string, unknown>
/** What a client that can keep no secret has none of. */
export const NO_SECRET_FIELDS = { jwks: null, resources: [] }
const isRecord = (value: unknown): value is Unchecked => typeof value === 'object' && value !== null
const REDIRECT_FIELDS = ['callbacks', 'allowedLogoutUrls'] as const

const textsOf = (value: unknown): [index: number, text: string][] =>
  Array.isArray(value) ? [...value.entries()].filter(([, item]) => typeof item === 'string') : []

/** Fields of clients that can keep something secret. */
const SECRET_FIELDS = ['jwks', 'resources'] as const
const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

/**
 * Rules that concern more than one field, or the tenant. They run beside faults of single fields: all are named at once.
 * Redirect targets are checked in `redirectFields` only.
 */
function checkAcrossFields(
  tenant: string,
  client: Unchecked,
  report: (path: PropertyKey[], message: string) => void,
  redirectFields: readonly (typeof REDIRECT_FIELDS)[number][] = REDIRECT_FIELDS,
): void {
  const appType = APP_TYPES.find((known) => known === client.appType)
  for (const field of appType ? redirectFields : [])
    for (const [index, url] of textsOf(client[field])) {
      const fault = redirectFault(appType as AppType, url)
      if (fault && !urlFault(url, ANY_REDIRECT)) report([field, index], fault)
    }
  for (const field of appType && !HAS_SECRET[appType] ? SECRET_FIELDS : [])
    if (isGiven(client[field]))
      report([field], `a ${appType} client can keep no secret to prove that it is meant`)
  for (const [index, scope] of textsOf(client.scopes))
    if (tenant !== SYSTEM_TENANT && (SYSTEM_SCOPES as readonly string[]).includes(scope))
      report(['scopes', index], 'belongs to tenant system')
}

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

const list = z.array(z.string())
const untilType = {
  id: idOf('client'),
  name: z.string(),
  description: z.string().nullable(),
  appType: z.enum(APP_TYPES),
  themeColor: z.string().nullable(),
  logoUrl: z.string().nullable(),
  callbacks: list,
  allowedOrigins: list,
  webOrigins: list,
  allowedLogoutUrls: list,
  initiateLoginUrl: z.string().nullable(),
  tokenExpiryTime: z.int().nullable(),
  requireConsent: z.boolean(),
  type: z.enum(CLIENT_TYPES),
}
const afterSecret = {
  scopes: list,
  jwks: z.record(z.string(), z.unknown()).nullable(),
  backchannelLogoutUrl: z.string().nullable(),
  idTokenSigningAlg: z.enum(SIGNING_ALGORITHMS).nullable(),
  userInfoSigningAlg: z.enum(SIGNING_ALGORITHMS).nullable(),
  requirePushedRequests: z.boolean(),
  resources: list,
  updatedAt: time,
  createdAt: time,
}

/** A client as REST answers it, in the order of the spec's table. Its secret is told once, in the shapes below. */
export const ClientShape = z
  .object({ ...untilType, ...afterSecret })
  .meta({ id: 'Client', model: 'Client', samples })

/** What a creation answers. */
export const NewClientShape = z
  .object({
    ...untilType,
    secret: z.string().nullable().meta({
      description: 'Its secret, told here and nowhere else; null for single-page and native clients.',
      example: 'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE',
    }),
    ...afterSecret,
  })
  .meta({ id: 'NewClient', model: 'Client', samples })

/** What a rotation answers. */
export const RotatedClientShape = z
  .object({
    ...untilType,
    secret: z.string().meta({
      description: 'The new secret, told here and nowhere else.',
      example: 'b8WqT0xLr5yHc2NfJv9sKd4PzGm7uEa1oRiQ6tXgYkM',
    }),
    ...afterSecret,
    previousSecretExpiresAt: time
      .nullable()
      .meta({ description: 'When the secret before stops working; null when none lives on.' }),
  })
  .meta({ id: 'RotatedClient', model: 'Client', samples })
