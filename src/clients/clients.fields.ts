import * as z from 'zod'
import { env } from '../core/env.ts'
import { isJsonObject } from '../core/json-object.ts'
import { ASSIGNABLE_SCOPES, SYSTEM_TENANT } from '../core/scopes.ts'
import { SESSION_SECONDS } from '../core/session-settings.ts'
import { SIGNING_ALGORITHMS } from '../keys/signing-algorithms.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { createFetchedUrl } from '../schema/fetched-url.fields.ts'
import { createImageUrl } from '../schema/image-shapes.ts'
import {
  boolean,
  clearable,
  flag,
  integer,
  oneOf,
  optional,
  requiredText,
  text,
} from '../schema/input-shapes.ts'
import { CANNOT_BE_CHANGED, isUnchanged, SET_BY_SERVICE } from '../schema/response-only.ts'
import { createAllowedUrl, createUri } from '../schema/url-shapes.ts'
import { clientJwks } from './client-keys.fields.ts'
import {
  checkClientConsistency,
  REDIRECT_FIELDS,
  redirectUri,
  SECRET_FIELD_DEFAULTS,
  webOrigin,
} from './client-rules.fields.ts'
import { clientSamples } from './client-shapes.fields.ts'
import { clientTranslations } from './client-translations.fields.ts'
import { APP_TYPES, CLIENT_TYPES } from './client-types.ts'
import { checkSecuritySettings, REQUIRABLE_AUTH_METHODS, SECURITY_PROFILES } from './security-profile.ts'

const MAX_ENTRIES = 100
const arrayOf = <Item extends z.ZodType>(item: Item, max: number) =>
  z.array(item, 'must be an array').max(max, `must have at most ${max} entries`)

/** A list without duplicates. Null empties it, as it unsets other fields. */
const list = <Item extends z.ZodType>(item: Item, max = MAX_ENTRIES) =>
  arrayOf(item, max)
    .nullable()
    .transform((items) => [...new Set(items)])
    .optional()

/** A list without duplicates that has a default. Null unsets it, and an empty list is a value. */
const unsettableList = <Item extends z.ZodType>(item: Item) =>
  arrayOf(item, MAX_ENTRIES)
    .nullable()
    .transform((items) => items && [...new Set(items)])
    .optional()

/** The identifier of an API (RFC 8707, section 2). Identifiers of this deployment are rejected. */
const resourceUri = createUri().refine(
  (value) => !URL.canParse(value) || new URL(value).origin !== env.baseUrl,
  'belongs to this deployment',
)

/** Settings that a profile may imply: null is the default, which depends on the profile. */
const securitySettings = {
  requirePushedRequests: boolean.nullish(),
  requirePkce: boolean.nullish(),
  tokenEndpointAuthMethod: oneOf(REQUIRABLE_AUTH_METHODS).nullish(),
  requireIssuerAudience: boolean.nullish(),
  requireFapiAlgorithms: boolean.nullish(),
  dpopBoundAccessTokens: boolean.nullish(),
  rotateRefreshTokens: boolean.nullish(),
}

/** Fields of a client, in the order of the API. */
const createClientFields = (kind: 'creation' | 'change') => {
  const member = <Shape extends z.ZodType>(shape: Shape) =>
    kind === 'change' ? clearable(shape) : optional(shape)
  return {
    description: member(text(2000)),
    themeColor: member(text().regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #0a7c66')),
    logoUrl: member(createImageUrl()),
    clientUri: member(createAllowedUrl({ secure: true, fragment: true })),
    policyUrl: member(createAllowedUrl({ secure: true, fragment: true })),
    termsUrl: member(createAllowedUrl({ secure: true, fragment: true })),
    translations: clientTranslations,
    callbacks: list(redirectUri),
    allowedOrigins: unsettableList(webOrigin),
    webOrigins: list(webOrigin),
    allowedLogoutUrls: list(redirectUri),
    initiateLoginUrl: member(createAllowedUrl({ secure: true })),
    tokenExpiryTime: integer(60, 86_400).nullish(),
    requireConsent: flag,
    scopes: list(oneOf(ASSIGNABLE_SCOPES)),
    jwks: clientJwks.nullish(),
    jwksUri: member(createFetchedUrl({ secure: true })),
    backchannelLogoutUrl: member(createFetchedUrl({ secure: true })),
    idTokenSigningAlg: member(oneOf(SIGNING_ALGORITHMS)),
    userInfoSigningAlg: member(oneOf(SIGNING_ALGORITHMS)),
    idTokenClaims: flag,
    profile: member(oneOf(SECURITY_PROFILES)),
    ...securitySettings,
    requireSecondFactor: flag,
    defaultMaxAge: integer(0, SESSION_SECONDS.max).nullish(),
    resources: list(resourceUri, 20),
  }
}

const createReporter =
  (context: z.RefinementCtx) =>
  (path: PropertyKey[], message: string): void =>
    context.addIssue({ code: 'custom', path, message })

/** Input of createClient in `tenant`. */
export const createClientCreateShape = (tenant: string) =>
  z
    .strictObject({
      name: requiredText(200),
      appType: oneOf(APP_TYPES),
      ...createClientFields('creation'),
      /** Never changes. */
      type: oneOf(CLIENT_TYPES),
      /** Marks an operator client, whose tokens are valid in every tenant. */
      allTenants: boolean.optional(),
    })
    .superRefine(
      (client, context) => {
        const report = createReporter(context)
        checkClientConsistency(tenant, client, report)
        checkSecuritySettings(client, client, report)
      },
      { when: ({ value }) => isJsonObject(value) },
    )

/** The same, for openapi.json. */
export const ClientCreate = createClientCreateShape(SYSTEM_TENANT).meta({
  id: 'ClientCreate',
  model: 'Client',
  samples: clientSamples,
})

/** A read-only field: it is accepted with its stored value and ignored. */
const responseOnly = (isSame: (sent: unknown) => boolean, message = SET_BY_SERVICE) =>
  z
    .unknown()
    .refine((sent) => sent === undefined || isSame(sent), message)
    .transform(() => undefined)
    .optional()
    .meta({ readOnly: true })

const unchanged = (current: unknown) => (sent: unknown) => isUnchanged(sent, current)

/** The stored client, against which an update is validated. */
export type CurrentClient = {
  id: string
  type: string
  appType: string
  registeredBy: string
  updatedAt: Date
  createdAt: Date
  /** Whether a value is the current secret of the client; null without a secret. */
  isCurrentSecret: (sent: unknown) => boolean
}

/**
 * Input of updateClient in `tenant`: omitted is unchanged, null and, for text, '' unset. The result must be
 * valid as a whole; fields that are not given, and not affected by another app type, are not validated again.
 */
export const createClientPatchShape = (tenant: string, current: CurrentClient) =>
  z
    .strictObject(
      {
        id: responseOnly(unchanged(current.id)),
        name: requiredText(200).optional(),
        appType: oneOf(APP_TYPES).optional(),
        ...createClientFields('change'),
        type: responseOnly(unchanged(current.type), CANNOT_BE_CHANGED),
        secret: responseOnly(current.isCurrentSecret).meta({ description: 'The current secret; ignored.' }),
        registeredBy: responseOnly(unchanged(current.registeredBy)),
        updatedAt: responseOnly(unchanged(current.updatedAt)),
        createdAt: responseOnly(unchanged(current.createdAt)),
        expectedUpdatedAt,
      },
      'must be an object',
    )
    .superRefine(
      (patch, context) => {
        const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
        const isOtherType = given.appType !== undefined && given.appType !== current.appType
        const report = createReporter(context)
        checkClientConsistency(
          tenant,
          { ...current, ...SECRET_FIELD_DEFAULTS, ...given },
          report,
          REDIRECT_FIELDS.filter((field) => isOtherType || given[field] !== undefined),
        )
        checkSecuritySettings(given, { ...current, ...given }, report)
      },
      { when: ({ value }) => isJsonObject(value) },
    )

/** The same, for openapi.json. */
export const ClientPatch = createClientPatchShape(SYSTEM_TENANT, {} as CurrentClient).meta({
  id: 'ClientPatch',
  model: 'Client',
  example: { name: 'Shop', themeColor: null },
})

export const MAX_SECRET_OVERLAP_SECONDS = 2_592_000
const DEFAULT_SECRET_OVERLAP_SECONDS = 86_400

/** How long the previous secret stays valid after a rotation. */
export const SecretRotation = z
  .strictObject(
    {
      overlapSeconds: integer(0, MAX_SECRET_OVERLAP_SECONDS)
        .nullish()
        .transform((value) => value ?? DEFAULT_SECRET_OVERLAP_SECONDS)
        .meta({
          description:
            'How long the current secret stays valid, 0 to 2592000 seconds; one day by default. An older secret is deleted immediately.',
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
