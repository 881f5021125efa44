import * as z from 'zod'
import { readIdPrefix } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import type { FieldIssue } from '../core/errors.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { createFetchedUrl } from '../schema/fetched-url.fields.ts'
import { listExamples, mapShapes, requiredField, textField } from '../schema/fields.ts'
import { textIn } from '../schema/formats.ts'
import { IDP_ID_PATTERN, isIdpId } from '../schema/idp-id.ts'
import { requiredText, text } from '../schema/input-shapes.ts'
import { acceptEchoes, responseOnlyIssues } from '../schema/response-only.ts'
import { asId, createIdPattern, createIdShape, instantShape } from '../schema/response-shapes.ts'
import type { UrlRules } from '../schema/url-shapes.ts'
import { CLAIMED_ROLE_FIELDS, findMappingIssues } from './claimed-roles.fields.ts'
import { findPolicyIssues, POLICY_FIELDS } from './entry-policy.fields.ts'
import { parsePublicKey } from './provider/provider-keys.ts'
import {
  ID_TOKEN_ALGORITHM,
  IDP_TYPE,
  MIN_SECRET_BYTES,
  REQUIRABLE_FIELD,
  SECRET_ALGORITHM,
} from './provider/provider-types.ts'
import type { SecretColumn } from './secrets/idp-secrets.ts'

/** https, or http on a loopback host; in development also private hosts. */
const SECURE_URL: UrlRules = { secure: env.isProduction }

const providerUrl = createFetchedUrl(SECURE_URL)

const issuerUrl = createFetchedUrl({ ...SECURE_URL, noQuery: true })

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

const organizationId = asId(
  text(200).refine(
    (id) => readIdPrefix(id) === 'organization',
    'is not an id that starts with organization_',
  ),
).meta({ pattern: createIdPattern('organization') })

const ISSUER = 'https://login.partner.example'

/** A field that is stored encrypted. Responses have its presence. */
const secretField = <Shape extends z.ZodType<string>>(shape: Shape, presence: string, example?: string) => ({
  ...textField(shape, example),
  answer: z.boolean().meta({ description: presence, example: example !== undefined }),
})

/** The fields that callers write, in the order of the API. Columns of the same names store them. */
export const IDP_FIELDS = {
  name: requiredField(requiredText(200), z.string(), 'Partner'),
  clientId: textField(text(500), 'vestibule'),
  clientSecret: secretField(
    text(10_000).meta({
      description:
        'OAuth 2.0 client secret; for Apple its private key (PKCS #8), or a client secret (JWT) that was signed with it. Never returned.',
    }),
    'Whether it has a client secret. The secret is never returned.',
    'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE',
  ),
  scopes: textField(
    text(1000).regex(SCOPES_SYNTAX, 'must be scopes separated by single spaces'),
    'openid email profile',
  ),
  issuer: textField(issuerUrl, ISSUER),
  authorizationEndpoint: textField(providerUrl, `${ISSUER}/authorize`),
  tokenEndpoint: textField(providerUrl, `${ISSUER}/token`),
  userInfoEndpoint: textField(providerUrl, `${ISSUER}/userinfo`),
  jwksUri: textField(providerUrl, `${ISSUER}/jwks.json`),
  idTokenSigningAlg: textField(ID_TOKEN_ALGORITHM.shape, 'ES256'),
  idTokenSigningKey: secretField(
    signingKey.meta({
      description:
        'The key of its ID tokens: an X.509 certificate or public key in PEM. Takes precedence over jwksUri. Never returned.',
    }),
    'Whether a key for its ID tokens is pinned. The key is never returned.',
  ),
  platformTeamId: textField(text(100)),
  platformKid: textField(text(100)),
  signalsIssuer: textField(text(500), 'https://login.partner.example'),
  organizationId: { ...textField(organizationId), answer: createIdShape('organization').nullable() },
  ...POLICY_FIELDS,
  ...CLAIMED_ROLE_FIELDS,
}
type IdpField = keyof typeof IDP_FIELDS
export const IDP_FIELD_NAMES = Object.keys(IDP_FIELDS) as IdpField[]
export type IdpFields = {
  [Name in IdpField]: NonNullable<z.output<(typeof IDP_FIELDS)[Name]['change']>> | null
}

/** The fields that callers never write, besides id and type. */
const SERVICE_FIELDS = {
  callbackUrl: textIn('uri').meta({
    description: 'The redirect URI to register at the provider. Users come back to it after a sign-in there.',
    example: 'https://login.example/example/oidc/callback/partner',
  }),
  logoutCallbackUrl: textIn('uri').meta({
    description: 'The post-logout redirect URI to register at the provider, for upstreamLogout.',
    example: 'https://login.example/example/oidc/logout/callback/partner',
  }),
  backchannelLogoutUrl: textIn('uri').meta({
    description:
      'The back-channel logout URI to register at the provider. A logout token there ends the sessions that came from it.',
    example: 'https://login.example/example/oidc/backchannel-logout/partner',
  }),
  signalsUrl: textIn('uri').meta({
    description:
      'Where the provider pushes shared signals (RFC 8935), once it has a signalsIssuer. The audience of its tokens is this URL or the clientId.',
    example: 'https://login.example/example/ssf/events/partner',
  }),
  hasSignalsSecret: z.boolean().meta({
    description: 'Whether it has to send the secret of rotateSignalsSecret with its signals.',
    example: false,
  }),
  missing: z.array(REQUIRABLE_FIELD.shape).meta({
    description:
      'Names of the fields that it still needs; clientSecret is one for Apple that is neither a key nor a JWT, or has expired. It proves no identity until there are none.',
    example: [],
  }),
  hasProvenDomains: z.boolean().meta({
    description:
      'Whether domains count only while its organization has proven them. False for a provider of the tenant: nobody proves its domains.',
    example: false,
  }),
  hasClientSecret: IDP_FIELDS.clientSecret.answer,
  hasIdTokenSigningKey: IDP_FIELDS.idTokenSigningKey.answer,
  updatedAt: instantShape.meta({ description: 'When it was last changed.' }),
  createdAt: instantShape.meta({ description: 'When it was created.' }),
}

const META = { model: 'IdentityProvider', samples: listExamples(IDP_FIELDS) }
const ID_META = {
  description:
    'Chosen by the caller: letters, digits and . _ - between them, up to 64 characters; never changes.',
  example: 'partner',
}
const type = IDP_TYPE.shape.meta({ description: 'The type of provider; never changes.', example: 'oidc' })

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
  const issues = [...findPolicyIssues(idp), ...findMappingIssues(idp)]
  const { clientSecret, idTokenSigningKey, idTokenSigningAlg } = idp
  if (idTokenSigningAlg === SECRET_ALGORITHM) issues.push(...findSecretIssues(clientSecret))
  const key = typeof idTokenSigningKey === 'string' ? parsePublicKey(idTokenSigningKey) : null
  const isKnown = ID_TOKEN_ALGORITHM.values.find((alg) => alg === idTokenSigningAlg)
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
      .meta({ ...ID_META, pattern: IDP_ID_PATTERN }),
    type,
    ...mapShapes(IDP_FIELDS, 'creation'),
  })
  .superRefine((idp, context) => addIssues(context, findIdpIssues(idp)), {
    when: ({ value }) => isJsonObject(value),
  })
  .meta({ id: 'IdentityProviderCreate', ...META })

const FIXED_FIELDS = ['id', 'type'] as const
const RESPONSE_ONLY_FIELDS = [
  ...FIXED_FIELDS,
  ...(Object.keys(SERVICE_FIELDS) as (keyof typeof SERVICE_FIELDS)[]),
]
type ResponseOnlyField = (typeof RESPONSE_ONLY_FIELDS)[number]

/** Input of updateIdentityProvider: omitted is unchanged, null and, for text, '' unset. */
export const IdpPatch = z
  .strictObject(
    {
      ...acceptEchoes(FIXED_FIELDS),
      ...mapShapes(IDP_FIELDS, 'change'),
      ...acceptEchoes(Object.keys(SERVICE_FIELDS) as (keyof typeof SERVICE_FIELDS)[]),
      expectedUpdatedAt,
    },
    'must be an object',
  )
  .meta({ id: 'IdentityProviderPatch', ...META, example: { name: IDP_FIELDS.name.example } })

/** Input of updateIdentityProvider for a stored provider. The result must be valid as a whole. */
export const createIdpPatchShape = (current: Record<ResponseOnlyField, unknown> & IdpFields) =>
  IdpPatch.superRefine(
    (patch, context) => {
      const given = Object.entries(patch).filter(([, value]) => value !== undefined)
      addIssues(context, [
        ...responseOnlyIssues(RESPONSE_ONLY_FIELDS, patch, current, FIXED_FIELDS),
        ...findIdpIssues({ ...current, ...Object.fromEntries(given), type: current.type }),
      ])
    },
    { when: ({ value }) => isJsonObject(value) },
  )

const PRESENCES: Record<string, string> = {
  clientSecret: 'hasClientSecret',
  idTokenSigningKey: 'hasIdTokenSigningKey',
}
/** The answers of the fields, with the presence of each secret in its place. */
const answers = Object.fromEntries(
  Object.entries(IDP_FIELDS).map(([name, { answer }]) => [PRESENCES[name] ?? name, answer]),
) as Omit<{ [Name in IdpField]: (typeof IDP_FIELDS)[Name]['answer'] }, SecretColumn>

/** An identity provider as responses have it. */
export const IdpShape = z
  .object({ id: z.string().meta(ID_META), type, ...answers, ...SERVICE_FIELDS })
  .meta({ id: 'IdentityProvider', ...META })

/** Input of rotateSignalsSecret. */
export const SignalsSecretRotation = z
  .strictObject({}, 'must be an object')
  .meta({ id: 'SignalsSecretRotation', description: 'It has no members.' })

export const SIGNALS_SECRET = z.string().meta({
  description: 'The secret, as `Authorization: Bearer` of the signals. Returned only here.',
  example: 'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE',
})

/** The response to rotateSignalsSecret. */
export const NewSignalsSecretShape = z
  .object({ secret: SIGNALS_SECRET })
  .meta({ id: 'NewSignalsSecret', description: 'The secret with which a provider sends shared signals.' })
