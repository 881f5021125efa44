import { z } from 'zod'
import { ID_PREFIXES } from '../crypto.ts'
import { env } from '../env.ts'
import type { FieldFault } from '../errors.ts'
import { expectedUpdatedAt } from '../expected-updated-at.ts'
import { fetchedUrl } from '../fetched-url.fields.ts'
import { clearable, requiredText, text, type UrlRules } from '../fields.ts'
import { time } from '../shapes.ts'
import { applePrivateKeyOf, publicKeyOf } from './provider-keys.ts'
import { ID_TOKEN_ALGORITHMS, IDP_TYPES } from './provider-types.ts'

/** Characters that need no encoding in a path; what begins like one of our own ids is kept for those. */
const IDP_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/
const looksLikeOurs = (id: string): boolean => ID_PREFIXES.some((prefix) => id.startsWith(`${prefix}_`))

/** Whether an identity provider may have this id: one that `node(id:)` cannot take for anything else. */
export const isIdpId = (id: string): boolean => IDP_ID.test(id) && !looksLikeOurs(id)

const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, `must be one of: ${values.join(', ')}`)

/** https, or http on this machine; in development also hosts of a local network. */
const SECURE: UrlRules = { secure: env.isProduction }

const providerUrl = fetchedUrl(SECURE)

const issuerUrl = providerUrl.refine(
  (value) => !value.includes('?'),
  'must not contain a query (OIDC Discovery, section 3)',
)

/** RFC 6749, section 3.3. */
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/

const signingKey = text(20_000).superRefine((value, context) => {
  const found = publicKeyOf(value)
  if (!found) context.addIssue('must be a certificate or public key in PEM format')
  else if (found.algorithms.length === 0)
    context.addIssue('must be an RSA key of 2048 bits or more, an EC key on a NIST curve, or an Ed25519 key')
})

const URLS = {
  issuer: 'https://login.partner.example',
  authorizationEndpoint: 'https://login.partner.example/authorize',
  tokenEndpoint: 'https://login.partner.example/token',
  userInfoEndpoint: 'https://login.partner.example/userinfo',
  jwksUri: 'https://login.partner.example/jwks.json',
}

const name = requiredText(200).meta({ description: 'Name shown to people.', example: 'Partner' })

/** What creations and changes have in common, in the order of the specification. */
const fields = {
  clientId: clearable(text(500)).meta({ example: 'vestibule' }),
  clientSecret: clearable(text(10_000)).meta({
    description: 'OAuth 2.0 client secret; for Apple its private key (PKCS #8). Never answered.',
    example: 'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE',
  }),
  scopes: clearable(text(1000).regex(SCOPES, 'must be scopes separated by single spaces')).meta({
    example: 'openid email profile',
  }),
  issuer: clearable(issuerUrl).meta({ example: URLS.issuer }),
  authorizationEndpoint: clearable(providerUrl).meta({ example: URLS.authorizationEndpoint }),
  tokenEndpoint: clearable(providerUrl).meta({ example: URLS.tokenEndpoint }),
  userInfoEndpoint: clearable(providerUrl).meta({ example: URLS.userInfoEndpoint }),
  jwksUri: clearable(providerUrl).meta({ example: URLS.jwksUri }),
  idTokenSigningAlg: clearable(oneOf(ID_TOKEN_ALGORITHMS)).meta({
    example: 'ES256',
  }),
  idTokenSigningKey: clearable(signingKey).meta({
    description:
      'The key of its ID tokens: an X.509 certificate or public key in PEM. Goes before jwksUri. Never answered.',
  }),
  platformTeamId: clearable(text(100)),
  platformKid: clearable(text(100)),
}
export type IdpFields = { name: string } & {
  [Field in keyof typeof fields]: NonNullable<z.output<(typeof fields)[Field]>> | null
}

/**
 * What is wrong with a provider as a whole, beside faults of single fields. One without a clientId is a draft that nothing
 * is proven with, so that nothing more is asked of it.
 */
function wholeFaults(idp: Record<string, unknown>): FieldFault[] {
  const faults: FieldFault[] = []
  const need = (field: keyof IdpFields, why: string) => {
    if (!idp[field]) faults.push({ field, description: `is required ${why}` })
  }
  const { clientSecret, idTokenSigningKey, idTokenSigningAlg } = idp
  if (idp.clientId && idp.type === 'oidc') need('issuer', 'for type oidc with a clientId')
  if (idp.clientId && idp.type === 'oauth2') need('userInfoEndpoint', 'for type oauth2 with a clientId')
  if (idp.type === 'apple' && typeof clientSecret === 'string' && clientSecret !== '') {
    need('platformTeamId', 'for type apple with a clientSecret')
    need('platformKid', 'for type apple with a clientSecret')
    if (!applePrivateKeyOf(clientSecret))
      faults.push({
        field: 'clientSecret',
        description: 'must be the private key from Apple in PEM format (PKCS #8)',
      })
  }
  const key = typeof idTokenSigningKey === 'string' ? publicKeyOf(idTokenSigningKey) : null
  const isKnown = ID_TOKEN_ALGORITHMS.find((alg) => alg === idTokenSigningAlg)
  if (key && isKnown && key.algorithms.length > 0 && !key.algorithms.includes(isKnown))
    faults.push({ field: 'idTokenSigningAlg', description: 'is none that idTokenSigningKey verifies' })
  return faults
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
const report = (context: z.RefinementCtx, faults: FieldFault[]) => {
  for (const { field, description } of faults)
    context.addIssue({ code: 'custom', path: [field], message: description })
}

/** What creates an identity provider. */
export const IdpCreate = z
  .strictObject({
    id: text(64)
      .refine(
        isIdpId,
        'must be letters, digits and . _ - between them, up to 64, and not begin like an id of this service',
      )
      .meta({ description: 'Chosen by the caller; never changes.', example: 'partner' }),
    type: oneOf(IDP_TYPES).meta({ description: 'Never changes.', example: 'oidc' }),
    name,
    ...fields,
  })
  .superRefine((idp, context) => report(context, wholeFaults(idp)), { when: ({ value }) => isRecord(value) })
  .meta({ id: 'IdentityProviderCreate', model: 'IdentityProvider' })

/** What the service sets: it may come back as it was answered, and is otherwise refused. */
const ANSWERED = ['id', 'type', 'hasClientSecret', 'hasIdTokenSigningKey', 'updatedAt', 'createdAt'] as const
type Answered = Record<(typeof ANSWERED)[number], unknown>
const answered = z.unknown().optional().meta({ description: 'Ignored where it is as it was answered.' })

/** What changes an identity provider: omitted is unchanged, '' and null unset. */
export const IdpPatch = z
  .strictObject(
    {
      id: answered,
      type: answered,
      name: name.optional(),
      ...fields,
      hasClientSecret: answered,
      hasIdTokenSigningKey: answered,
      updatedAt: answered,
      createdAt: answered,
      expectedUpdatedAt,
    },
    'must be an object',
  )
  .meta({ id: 'IdentityProviderPatch', model: 'IdentityProvider', example: { name: 'Partner' } })

/** The fields of a change that only answers carry and that say something else than the provider does. */
function echoFaults(patch: Record<string, unknown>, current: Answered): FieldFault[] {
  const plain = (value: unknown) => (value instanceof Date ? value.getTime() : value)
  const sent = (value: unknown, field: string) =>
    field.endsWith('At') && typeof value === 'string' ? Date.parse(value) : value
  return ANSWERED.filter(
    (field) => patch[field] !== undefined && sent(patch[field], field) !== plain(current[field]),
  ).map((field) => ({
    field,
    description: field === 'id' || field === 'type' ? 'cannot be changed' : 'is set by the service',
  }))
}

/** The same, judged against the provider as it is, which must be valid as a whole afterwards. */
export const idpPatch = (current: Answered & IdpFields) =>
  IdpPatch.superRefine(
    (patch, context) => {
      const given = Object.entries(patch).filter(([, value]) => value !== undefined)
      report(context, [
        ...echoFaults(patch, current),
        ...wholeFaults({ ...current, ...Object.fromEntries(given), type: current.type }),
      ])
    },
    { when: ({ value }) => isRecord(value) },
  )

const textIfAny = z.string().nullable()

/** An identity provider as REST answers it, in the order of the specification; its secrets are only said to be there. */
export const IdpShape = z
  .object({
    id: z.string().meta({ example: 'partner' }),
    type: z.enum(IDP_TYPES).meta({ example: 'oidc' }),
    name: z.string().meta({ example: 'Partner' }),
    clientId: textIfAny.meta({ example: 'vestibule' }),
    hasClientSecret: z.boolean().meta({ description: 'Whether it has a client secret.', example: true }),
    scopes: textIfAny.meta({ example: 'openid email profile' }),
    issuer: textIfAny.meta({ example: URLS.issuer }),
    authorizationEndpoint: textIfAny.meta({ example: URLS.authorizationEndpoint }),
    tokenEndpoint: textIfAny.meta({ example: URLS.tokenEndpoint }),
    userInfoEndpoint: textIfAny.meta({ example: URLS.userInfoEndpoint }),
    jwksUri: textIfAny.meta({ example: URLS.jwksUri }),
    idTokenSigningAlg: textIfAny.meta({ example: 'ES256' }),
    hasIdTokenSigningKey: z.boolean().meta({ description: 'Whether a key is pinned.', example: false }),
    platformTeamId: textIfAny,
    platformKid: textIfAny,
    updatedAt: time,
    createdAt: time,
  })
  .meta({ id: 'IdentityProvider', model: 'IdentityProvider' })
