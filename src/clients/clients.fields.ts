import * as z from 'zod'
import { ASSIGNABLE_SCOPES } from '../core/scopes.ts'
import { SIGNING_ALGORITHM } from '../keys/signing-algorithms.ts'
import { SESSION_SECONDS } from '../model/session-settings.ts'
import { ACCEPTED_DOCUMENTS } from '../schema/accepted-documents.ts'
import { claimMappings } from '../schema/claim-mapping-shapes.ts'
import { createFetchedUrl } from '../schema/fetched-url.fields.ts'
import {
  enumField,
  flagField,
  listExamples,
  listField,
  mapShapes,
  nullableField,
  optionalEnumField,
  requiredField,
  textField,
  unsettableListField,
} from '../schema/fields.ts'
import { asFormat, color } from '../schema/formats.ts'
import { createImageUrl } from '../schema/image-shapes.ts'
import { integer, oneOf, requiredText, text } from '../schema/input-shapes.ts'
import { clientIdShape, instantShape, jsonObjectShape } from '../schema/response-shapes.ts'
import { createAllowedUrl, createResourceUri } from '../schema/url-shapes.ts'
import { clientJwks } from './client-keys.fields.ts'
import { redirectUri, webOrigin } from './client-rules.fields.ts'
import { clientTranslations } from './client-translations.fields.ts'
import { APP_TYPE, CLIENT_TYPE, ORGANIZATION_MODE, REGISTERED_BY } from './client-types.ts'
import { SECURITY_PROFILE, SECURITY_SETTINGS } from './security-profile.fields.ts'

const page = createAllowedUrl({ secure: true, fragment: true })

const JWKS_EXAMPLE = {
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
      y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
      kid: 'shop-1',
    },
  ],
}

/** The fields before `secret` in responses. */
const FIELDS_BEFORE_SECRET = {
  name: requiredField(requiredText(200), z.string(), 'Shop'),
  description: textField(text(2000), 'The web shop of Example Inc.'),
  appType: requiredField(APP_TYPE.shape, APP_TYPE.shape, 'web'),
  themeColor: textField(color, '#0a7c66'),
  logoUrl: textField(createImageUrl(), 'https://shop.example/logo.png'),
  clientUri: textField(page, 'https://shop.example'),
  policyUrl: textField(page, 'https://shop.example/privacy'),
  termsUrl: textField(page, 'https://shop.example/terms'),
  translations: clientTranslations,
  callbacks: listField(redirectUri, { isPlain: true, example: ['https://shop.example/callback'] }),
  allowedOrigins: unsettableListField(webOrigin, { isPlain: true, example: ['https://shop.example'] }),
  webOrigins: listField(webOrigin, { isPlain: true }),
  allowedLogoutUrls: listField(redirectUri, { isPlain: true, example: ['https://shop.example/bye'] }),
  initiateLoginUrl: textField(createAllowedUrl({ secure: true })),
  tokenExpiryTime: nullableField(integer(60, 86_400), z.int(), 3600),
  requireConsent: flagField(false),
}
/** The fields after `secret` in responses. */
const FIELDS_AFTER_SECRET = {
  scopes: listField(asFormat(oneOf(ASSIGNABLE_SCOPES), 'scope'), { isPlain: true }),
  jwks: nullableField(clientJwks, jsonObjectShape, JWKS_EXAMPLE),
  jwksUri: textField(createFetchedUrl({ secure: true }), null),
  backchannelLogoutUrl: textField(
    createFetchedUrl({ secure: true }),
    'https://shop.example/backchannel-logout',
  ),
  idTokenSigningAlg: optionalEnumField(SIGNING_ALGORITHM, 'ES256'),
  userInfoSigningAlg: optionalEnumField(SIGNING_ALGORITHM),
  idTokenClaims: flagField(false),
  claimMappings,
  groupsClaim: flagField(false),
  profile: optionalEnumField(SECURITY_PROFILE, null),
  ...SECURITY_SETTINGS,
  requireSecondFactor: flagField(false),
  organization: enumField(ORGANIZATION_MODE, 'none', 'ask'),
  defaultMaxAge: nullableField(integer(0, SESSION_SECONDS.max), z.int(), 86_400),
  acceptedDocuments: enumField(ACCEPTED_DOCUMENTS, 'any', 'any'),
  resources: listField(createResourceUri(), {
    max: 20,
    isPlain: true,
    example: ['https://api.shop.example'],
  }),
}
/** Every field of a client that callers change, in the order of the API. Columns of the same names store them. */
export const CLIENT_FIELDS = { ...FIELDS_BEFORE_SECRET, ...FIELDS_AFTER_SECRET }

export const CLIENT_META = {
  model: 'Client',
  samples: { ...listExamples(CLIENT_FIELDS), registeredBy: 'administrator' },
}

const bodyBeforeSecret = {
  id: clientIdShape,
  ...mapShapes(FIELDS_BEFORE_SECRET, 'answer'),
  type: CLIENT_TYPE.shape,
}
const bodyAfterSecret = {
  ...mapShapes(FIELDS_AFTER_SECRET, 'answer'),
  registeredBy: REGISTERED_BY.shape,
  updatedAt: instantShape,
  createdAt: instantShape,
}

/** A client as REST returns it. Its secret is returned only once, in the shapes below. */
export const ClientShape = z
  .object({ ...bodyBeforeSecret, ...bodyAfterSecret })
  .meta({ id: 'Client', ...CLIENT_META })

/** The response of a creation. */
export const NewClientShape = z
  .object({
    ...bodyBeforeSecret,
    secret: z.string().nullable().meta({
      description:
        'The client secret, which is shown only once; null for clients that authenticate without one.',
      example: 'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE',
    }),
    ...bodyAfterSecret,
  })
  .meta({ id: 'NewClient', ...CLIENT_META })

/** The response of a secret rotation. */
export const RotatedClientShape = z
  .object({
    ...bodyBeforeSecret,
    secret: z.string().meta({
      description: 'The new secret. It is shown only once.',
      example: 'b8WqT0xLr5yHc2NfJv9sKd4PzGm7uEa1oRiQ6tXgYkM',
    }),
    ...bodyAfterSecret,
    previousSecretExpiresAt: instantShape
      .nullable()
      .meta({ description: 'When the previous secret expires; null when there is none.' }),
  })
  .meta({ id: 'RotatedClient', ...CLIENT_META })
