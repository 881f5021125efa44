import { z } from 'zod'
import { clientId, time } from '../shapes.ts'
import { SIGNING_ALGORITHMS } from '../signing-algorithms.ts'
import { APP_TYPES, CLIENT_TYPES, REGISTERED_BY } from './client-types.ts'

/** Examples of fields, for openapi.json. */
export const samples = {
  name: 'Shop',
  description: 'The web shop of Example Inc.',
  appType: 'web',
  themeColor: '#0a7c66',
  logoUrl: 'https://shop.example/logo.png',
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
  backchannelLogoutUrl: 'https://shop.example/backchannel-logout',
  idTokenSigningAlg: 'ES256',
  registeredBy: 'administrator',
  resources: ['https://api.shop.example'],
}

const list = z.array(z.string())
const untilType = {
  id: clientId,
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
  registeredBy: z.enum(REGISTERED_BY),
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
