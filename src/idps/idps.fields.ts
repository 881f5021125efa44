import * as z from 'zod'
import { env } from '../core/env.ts'
import type { FieldIssue } from '../core/errors.ts'
import { isJsonObject } from '../core/json-object.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { createFetchedUrl } from '../schema/fetched-url.fields.ts'
import { IDP_ID_PATTERN, isIdpId } from '../schema/idp-id.ts'
import { clearable, oneOf, optional, requiredText, text } from '../schema/input-shapes.ts'
import { responseOnlyIssues } from '../schema/response-only.ts'
import { instantShape } from '../schema/response-shapes.ts'
import type { UrlRules } from '../schema/url-shapes.ts'
import { findPolicyIssues, POLICY_FIELDS, POLICY_SHAPES } from './entry-policy.fields.ts'
import { parsePublicKey } from './provider-keys.ts'
import {
  ID_TOKEN_ALGORITHMS,
  IDP_TYPES,
  MIN_SECRET_BYTES,
  REQUIRABLE_FIELDS,
  SECRET_ALGORITHM,
} from './provider-types.ts'

/** https, or http on a loopback host; in development also private hosts. */
const SECURE_URL: UrlRules = { secure: env.isProduction }

const providerUrl = createFetchedUrl(SECURE_URL)

const issuerUrl = createFetchedUrl({ ...SECURE_URL, noQuery: true })

const ACCEPTED_ALGORITHMS = [...ID_TOKEN_ALGORITHMS, SECRET_ALGORITHM] as const

/** RFC 6749, section 3.3. */
const SCOPES_SYNTAX = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/

const signingKey = text(20_000)
  .superRefine((value, context) => {
    const found = parsePublicKey(value)
    if (!found) context.addIssue('must be a certificate or public key in PEM format')
    else if (found.algorithms.length === 0)
      context.addIssue(
        'must be an RSA key of 2048 bits or more, an EC key on a NIST curve, or an Ed25519 key',
      )
  })
  .meta({ format: 'pem' })

export const CLIENT_SECRET_DESCRIPTION =
  'OAuth 2.0 client secret; for Apple its private key (PKCS #8), or a client secret (JWT) that was signed with it. Never returned.'

const EXAMPLE_URLS = {
  issuer: 'https://login.partner.example',
  authorizationEndpoint: 'https://login.partner.example/authorize',
  tokenEndpoint: 'https://login.partner.example/token',
  userInfoEndpoint: 'https://login.partner.example/userinfo',
  jwksUri: 'https://login.partner.example/jwks.json',
}

const name = requiredText(200).meta({ description: 'Name shown to people.', example: 'Partner' })

/** Fields that creation and update share, in the order of the API. */
const createIdpFields = (kind: 'creation' | 'change') => {
  const member = <Shape extends z.ZodType>(shape: Shape) =>
    kind === 'change' ? clearable(shape) : optional(shape)
  return {
    clientId: member(text(500)).meta({ example: 'vestibule' }),
    clientSecret: member(text(10_000)).meta({
      description: CLIENT_SECRET_DESCRIPTION,
      example: 'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE',
    }),
    scopes: member(text(1000).regex(SCOPES_SYNTAX, 'must be scopes separated by single spaces')).meta({
      example: 'openid email profile',
    }),
    issuer: member(issuerUrl).meta({ example: EXAMPLE_URLS.issuer }),
    authorizationEndpoint: member(providerUrl).meta({ example: EXAMPLE_URLS.authorizationEndpoint }),
    tokenEndpoint: member(providerUrl).meta({ example: EXAMPLE_URLS.tokenEndpoint }),
    userInfoEndpoint: member(providerUrl).meta({ example: EXAMPLE_URLS.userInfoEndpoint }),
    jwksUri: member(providerUrl).meta({ example: EXAMPLE_URLS.jwksUri }),
    idTokenSigningAlg: member(oneOf(ACCEPTED_ALGORITHMS)).meta({
      example: 'ES256',
    }),
    idTokenSigningKey: member(signingKey).meta({
      description:
        'The key of its ID tokens: an X.509 certificate or public key in PEM. Takes precedence over jwksUri. Never returned.',
    }),
    platformTeamId: member(text(100)),
    platformKid: member(text(100)),
    ...POLICY_FIELDS,
  }
}
type IdpShapes = ReturnType<typeof createIdpFields>
export type IdpFields = { name: string } & {
  [Field in keyof IdpShapes]: NonNullable<z.output<IdpShapes[Field]>> | null
}

/** Issues of ID tokens whose key is the client secret. */
function findSecretIssues(secret: unknown): FieldIssue[] {
  return typeof secret === 'string' && secret !== '' && Buffer.byteLength(secret) < MIN_SECRET_BYTES
    ? [
        {
          field: 'clientSecret',
          description: `must have ${MIN_SECRET_BYTES} bytes or more: with ${SECRET_ALGORITHM}, it is the key of ID tokens`,
        },
      ]
    : []
}

/**
 * Issues of fields that depend on other fields which are given. A provider may lack fields: see
 * `listMissingFields`.
 */
function findIdpIssues(idp: Record<string, unknown>): FieldIssue[] {
  const issues = findPolicyIssues(idp)
  const { clientSecret, idTokenSigningKey, idTokenSigningAlg } = idp
  if (idTokenSigningAlg === SECRET_ALGORITHM) issues.push(...findSecretIssues(clientSecret))
  const key = typeof idTokenSigningKey === 'string' ? parsePublicKey(idTokenSigningKey) : null
  const isKnown = ACCEPTED_ALGORITHMS.find((alg) => alg === idTokenSigningAlg)
  if (key && isKnown && key.algorithms.length > 0 && !key.algorithms.some((alg) => alg === isKnown))
    issues.push({ field: 'idTokenSigningAlg', description: 'is not an algorithm of idTokenSigningKey' })
  return issues
}

const addIssues = (context: z.RefinementCtx, issues: FieldIssue[]) => {
  for (const { field, description } of issues)
    context.addIssue({ code: 'custom', path: [field], message: description })
}

/** Input of createIdentityProvider. */
export const IdpCreate = z
  .strictObject({
    id: text(64)
      .refine(
        isIdpId,
        'must be letters, digits and . _ - between them, up to 64, and not begin like an id of this service',
      )
      .meta({
        description: 'Chosen by the caller; never changes.',
        example: 'partner',
        pattern: IDP_ID_PATTERN,
      }),
    type: oneOf(IDP_TYPES).meta({ description: 'Never changes.', example: 'oidc' }),
    name,
    ...createIdpFields('creation'),
  })
  .superRefine((idp, context) => addIssues(context, findIdpIssues(idp)), {
    when: ({ value }) => isJsonObject(value),
  })
  .meta({ id: 'IdentityProviderCreate', model: 'IdentityProvider' })

/** A read-only field: it is accepted with its returned value, and rejected otherwise. */
const RESPONSE_ONLY_FIELDS = [
  'id',
  'type',
  'callbackUrl',
  'logoutCallbackUrl',
  'backchannelLogoutUrl',
  'missing',
  'hasClientSecret',
  'hasIdTokenSigningKey',
  'updatedAt',
  'createdAt',
] as const
type IdpResponseOnly = Record<(typeof RESPONSE_ONLY_FIELDS)[number], unknown>
const acceptEcho = z
  .unknown()
  .optional()
  .meta({ description: 'Ignored if it equals the returned value.', readOnly: true })

/** Input of updateIdentityProvider: omitted is unchanged, null and, for text, '' unset. */
export const IdpPatch = z
  .strictObject(
    {
      id: acceptEcho,
      type: acceptEcho,
      name: name.optional(),
      ...createIdpFields('change'),
      callbackUrl: acceptEcho,
      logoutCallbackUrl: acceptEcho,
      backchannelLogoutUrl: acceptEcho,
      missing: acceptEcho,
      hasClientSecret: acceptEcho,
      hasIdTokenSigningKey: acceptEcho,
      updatedAt: acceptEcho,
      createdAt: acceptEcho,
      expectedUpdatedAt,
    },
    'must be an object',
  )
  .meta({ id: 'IdentityProviderPatch', model: 'IdentityProvider', example: { name: 'Partner' } })

/** The same, validated against the stored provider. The result must be valid as a whole. */
export const createIdpPatchShape = (current: IdpResponseOnly & IdpFields) =>
  IdpPatch.superRefine(
    (patch, context) => {
      const given = Object.entries(patch).filter(([, value]) => value !== undefined)
      addIssues(context, [
        ...responseOnlyIssues(RESPONSE_ONLY_FIELDS, patch, current, ['id', 'type']),
        ...findIdpIssues({ ...current, ...Object.fromEntries(given), type: current.type }),
      ])
    },
    { when: ({ value }) => isJsonObject(value) },
  )

const nullableText = z.string().nullable()

export const MISSING_DESCRIPTION =
  'Names of the fields that it still needs; clientSecret is one for Apple that is neither a key nor a JWT, or has expired. It proves no identity until there are none.'

export const CALLBACK_URL_DESCRIPTION =
  'The redirect URI to register at the provider. Users come back to it after a sign-in there.'

export const LOGOUT_CALLBACK_URL_DESCRIPTION =
  'The post-logout redirect URI to register at the provider, for upstreamLogout.'

export const BACKCHANNEL_LOGOUT_URL_DESCRIPTION =
  'The back-channel logout URI to register at the provider. A logout token there ends the sessions that came from it.'

/**
 * An identity provider as REST returns it, in the order of the API. Of its secrets, only their presence is
 * returned.
 */
export const IdpShape = z
  .object({
    id: z.string().meta({ example: 'partner' }),
    type: z.enum(IDP_TYPES).meta({ example: 'oidc' }),
    name: z.string().meta({ example: 'Partner' }),
    clientId: nullableText.meta({ example: 'vestibule' }),
    hasClientSecret: z.boolean().meta({ description: 'Whether it has a client secret.', example: true }),
    scopes: nullableText.meta({ example: 'openid email profile' }),
    issuer: nullableText.meta({ example: EXAMPLE_URLS.issuer }),
    authorizationEndpoint: nullableText.meta({ example: EXAMPLE_URLS.authorizationEndpoint }),
    tokenEndpoint: nullableText.meta({ example: EXAMPLE_URLS.tokenEndpoint }),
    userInfoEndpoint: nullableText.meta({ example: EXAMPLE_URLS.userInfoEndpoint }),
    jwksUri: nullableText.meta({ example: EXAMPLE_URLS.jwksUri }),
    idTokenSigningAlg: nullableText.meta({ example: 'ES256' }),
    hasIdTokenSigningKey: z.boolean().meta({ description: 'Whether a key is pinned.', example: false }),
    platformTeamId: nullableText,
    platformKid: nullableText,
    ...POLICY_SHAPES,
    callbackUrl: z.string().meta({
      description: CALLBACK_URL_DESCRIPTION,
      example: 'https://login.example/example/oidc/callback/partner',
    }),
    logoutCallbackUrl: z.string().meta({
      description: LOGOUT_CALLBACK_URL_DESCRIPTION,
      example: 'https://login.example/example/oidc/logout/callback/partner',
    }),
    backchannelLogoutUrl: z.string().meta({
      description: BACKCHANNEL_LOGOUT_URL_DESCRIPTION,
      example: 'https://login.example/example/oidc/backchannel-logout/partner',
    }),
    missing: z.array(z.enum(REQUIRABLE_FIELDS)).meta({ description: MISSING_DESCRIPTION, example: [] }),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'IdentityProvider', model: 'IdentityProvider' })
