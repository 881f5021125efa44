import * as z from 'zod'
import { SIGNING_ALGORITHMS } from '../keys/signing-algorithms.ts'
import { clientIdShape, instantShape } from '../schema/response-shapes.ts'
import { clientTranslationsSample, clientTranslationsShape } from './client-translations.fields.ts'
import { APP_TYPES, CLIENT_TYPES, REGISTERED_BY } from './client-types.ts'
import { REQUIRABLE_AUTH_METHODS, SECURITY_PROFILES } from './security-profile.ts'

/** Examples of fields, for openapi.json. */
export const clientSamples = {
  name: 'Shop',
  description: 'The web shop of Example Inc.',
  appType: 'web',
  themeColor: '#0a7c66',
  logoUrl: 'https://shop.example/logo.png',
  clientUri: 'https://shop.example',
  policyUrl: 'https://shop.example/privacy',
  termsUrl: 'https://shop.example/terms',
  translations: clientTranslationsSample,
  callbacks: ['https://shop.example/callback'],
  allowedOrigins: ['https://shop.example'],
  allowedLogoutUrls: ['https://shop.example/bye'],
  tokenExpiryTime: 3600,
  jwks: {
    keys: [
      {
        kty: 'EC',
        crv: 'P-256',
        x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
        y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
        kid: 'shop-1',
      },
    ],
  },
  jwksUri: null,
  defaultMaxAge: 86_400,
  backchannelLogoutUrl: 'https://shop.example/backchannel-logout',
  idTokenSigningAlg: 'ES256',
  profile: null,
  tokenEndpointAuthMethod: 'private_key_jwt',
  rotateRefreshTokens: true,
  registeredBy: 'administrator',
  resources: ['https://api.shop.example'],
}

const textList = z.array(z.string())
const fieldsBeforeSecret = {
  id: clientIdShape,
  name: z.string(),
  description: z.string().nullable(),
  appType: z.enum(APP_TYPES),
  themeColor: z.string().nullable(),
  logoUrl: z.string().nullable(),
  clientUri: z.string().nullable(),
  policyUrl: z.string().nullable(),
  termsUrl: z.string().nullable(),
  translations: clientTranslationsShape,
  callbacks: textList,
  allowedOrigins: textList,
  webOrigins: textList,
  allowedLogoutUrls: textList,
  initiateLoginUrl: z.string().nullable(),
  tokenExpiryTime: z.int().nullable(),
  requireConsent: z.boolean(),
  type: z.enum(CLIENT_TYPES),
}
const fieldsAfterSecret = {
  scopes: textList,
  jwks: z.record(z.string(), z.unknown()).nullable(),
  jwksUri: z.string().nullable(),
  backchannelLogoutUrl: z.string().nullable(),
  idTokenSigningAlg: z.enum(SIGNING_ALGORITHMS).nullable(),
  userInfoSigningAlg: z.enum(SIGNING_ALGORITHMS).nullable(),
  idTokenClaims: z.boolean(),
  profile: z.enum(SECURITY_PROFILES).nullable(),
  requirePushedRequests: z.boolean(),
  requirePkce: z.boolean(),
  tokenEndpointAuthMethod: z.enum(REQUIRABLE_AUTH_METHODS).nullable(),
  requireIssuerAudience: z.boolean(),
  requireFapiAlgorithms: z.boolean(),
  dpopBoundAccessTokens: z.boolean(),
  rotateRefreshTokens: z.boolean(),
  requireSecondFactor: z.boolean(),
  defaultMaxAge: z.int().nullable(),
  resources: textList,
  registeredBy: z.enum(REGISTERED_BY),
  updatedAt: instantShape,
  createdAt: instantShape,
}

/**
 * A client as REST returns it, in the order of the API. Its secret is returned only once, in the shapes
 * below.
 */
export const ClientShape = z
  .object({ ...fieldsBeforeSecret, ...fieldsAfterSecret })
  .meta({ id: 'Client', model: 'Client', samples: clientSamples })

/** The response of a creation. */
export const NewClientShape = z
  .object({
    ...fieldsBeforeSecret,
    secret: z.string().nullable().meta({
      description:
        'The client secret, which is shown only once; null for clients that authenticate without one.',
      example: 'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE',
    }),
    ...fieldsAfterSecret,
  })
  .meta({ id: 'NewClient', model: 'Client', samples: clientSamples })

/** The response of a secret rotation. */
export const RotatedClientShape = z
  .object({
    ...fieldsBeforeSecret,
    secret: z.string().meta({
      description: 'The new secret. It is shown only once.',
      example: 'b8WqT0xLr5yHc2NfJv9sKd4PzGm7uEa1oRiQ6tXgYkM',
    }),
    ...fieldsAfterSecret,
    previousSecretExpiresAt: instantShape
      .nullable()
      .meta({ description: 'When the previous secret expires; null when there is none.' }),
  })
  .meta({ id: 'RotatedClient', model: 'Client', samples: clientSamples })
