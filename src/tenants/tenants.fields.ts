import * as z from 'zod'
import { COMMON_SCOPES } from '../core/scopes.ts'
import { LANGUAGES } from '../languages/catalogs.ts'
import { API_KEY_LIFETIME_SECONDS } from '../model/api-keys.ts'
import type { SecondFactorMode } from '../model/sign-in-methods.ts'
import { ACCEPTED_DOCUMENTS } from '../schema/accepted-documents.ts'
import { emailAddress } from '../schema/address-shapes.ts'
import { defineEnum } from '../schema/enums.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { createFetchedUrl } from '../schema/fetched-url.fields.ts'
import {
  enumField,
  flagField,
  integerField,
  listExamples,
  listField,
  mapShapes,
  nullableField,
  textField,
} from '../schema/fields.ts'
import { asFormat } from '../schema/formats.ts'
import { createImageUrl } from '../schema/image-shapes.ts'
import { instant, oneOf, optional, searchText, text } from '../schema/input-shapes.ts'
import { defineFilter, type Given } from '../schema/lists.ts'
import { SIGN_IN_METHOD } from '../schema/model-enums.ts'
import { instantShape } from '../schema/response-shapes.ts'
import { slug } from '../schema/slug.ts'
import { roleName } from '../schema/token-name.ts'
import { createAllowedUrl } from '../schema/url-shapes.ts'
import { brandSettings } from './brand-settings.fields.ts'
import {
  findDeliveryIssues,
  findSecretIssues,
  mailSenderSettings,
  messageServerSecrets,
  messageServerSettings,
} from './message-servers.fields.ts'
import { country, passcodeSettings } from './passcode-settings.fields.ts'
import { findSessionIssues, sessionSettings } from './session-settings.fields.ts'
import { findSignUpIssues, signUpSettings } from './sign-up-settings.fields.ts'
import { textOverrides } from './text-overrides.fields.ts'

const SECOND_FACTOR = defineEnum<SecondFactorMode>('SecondFactorMode', 'Who presents a second factor.', {
  off: 'Nobody.',
  'if-enrolled': 'Users who have an authenticator app.',
  required: 'All users; those who have none set up an authenticator app.',
})

/** Old passwords, which others may have learned, are accepted for two years at most. */
const MAX_MIGRATION_DAYS = 731
const migrationEnd = instant.refine(
  (end) => end.getTime() - Date.now() <= MAX_MIGRATION_DAYS * 86_400_000,
  'must be within two years',
)

/** A person who lost everything waits 30 days at most. */
const MAX_WAITING_SECONDS = 30 * 86_400

/** Every setting of a tenant, in the order of the API. Columns of the same names store them. */
export const TENANT_SETTINGS = {
  friendlyName: textField(text(200), 'Example Inc.'),
  logoUrl: textField(createImageUrl(), 'https://example.com/logo.png'),
  // Often a URL, but any identifier of an API is valid (RFC 9068, section 3).
  defaultAudience: textField(text(2000), 'https://api.example.com'),
  loginUrl: textField(createAllowedUrl({ secure: true })),
  supportUrl: textField(createAllowedUrl({ fragment: true }), 'https://example.com/help'),
  phoneCountry: textField(country, 'CH'),
  defaultLocale: textField(asFormat(oneOf(LANGUAGES as [string, ...string[]]), 'language-tag'), 'de'),
  dynamicRegistration: flagField(false),
  clientIdMetadataDocuments: flagField(false),
  openRegistration: flagField(false),
  // The scopes that every client may request.
  defaultScopes: listField(asFormat(oneOf(COMMON_SCOPES), 'scope'), { example: ['email'] }),
  ...signUpSettings,
  // At least one, so that users can sign in.
  signInMethods: listField(SIGN_IN_METHOD.shape, {
    min: 1,
    standard: SIGN_IN_METHOD.values,
    example: ['passkey', 'passcode'],
  }),
  offerPasskey: flagField(true, true),
  secondFactor: enumField(SECOND_FACTOR, 'if-enrolled', 'if-enrolled'),
  secondFactorRoles: listField(roleName, { isPlain: true, example: ['admin'] }),
  recoveryWaitingTime: integerField({ min: 0, max: MAX_WAITING_SECONDS, standard: 0 }, 86_400),
  ...sessionSettings,
  migrationEndsAt: nullableField(migrationEnd, instantShape, '2027-03-31T22:00:00.000Z'),
  proofUrl: textField(createFetchedUrl({ secure: true }), 'https://old.example.com/prove'),
  userApiKeys: flagField(false, true),
  apiKeyLifetimeSeconds: integerField(API_KEY_LIFETIME_SECONDS, 7_776_000),
  acceptedDocuments: enumField(ACCEPTED_DOCUMENTS, 'any', 'any'),
  eventRetentionDays: integerField({ min: 7, max: 365, standard: 90 }, 365),
  ...passcodeSettings,
  ...brandSettings,
  ...mailSenderSettings,
  ...messageServerSettings,
  textOverrides,
}

const META = { model: 'Tenant', samples: listExamples(TENANT_SETTINGS) }

/** Issues of settings that do not fit together. */
export const findSettingIssues = (
  settings: Parameters<typeof findSignUpIssues>[0] & Parameters<typeof findSessionIssues>[0],
) => [...findSignUpIssues(settings), ...findSessionIssues(settings)]

/** The settings of a new tenant. */
const TenantSettings = z
  .strictObject({ ...mapShapes(TENANT_SETTINGS, 'creation'), ...messageServerSecrets })
  .superRefine((settings, context) => {
    const issues = [
      ...findSettingIssues(settings),
      ...findDeliveryIssues(settings),
      ...findSecretIssues(settings, settings, settings),
    ]
    for (const { field, description } of issues)
      context.addIssue({ code: 'custom', path: [field], message: description })
  })
  .meta({ id: 'TenantSettingsInput', ...META })
export type TenantSettings = z.output<typeof TenantSettings>

/** Input of an update: the settings, and the updatedAt that the caller read. */
export const TenantSettingsPatch = z
  .strictObject({ ...mapShapes(TENANT_SETTINGS, 'change'), ...messageServerSecrets, expectedUpdatedAt })
  .meta({
    id: 'TenantSettingsPatch',
    model: 'Tenant',
    example: { supportUrl: TENANT_SETTINGS.supportUrl.example, loginUrl: null },
  })

const SLUG_META = {
  description:
    'Lower-case letters, digits and single hyphens, up to 63. It is part of the URLs of the tenant and never changes.',
  example: 'example',
}

const TenantAdministrator = z
  .strictObject({
    email: emailAddress.meta({ description: 'E-mail address of the person.', example: 'grace@example.com' }),
    name: optional(text()).meta({ description: 'Name of the person.', example: 'Grace Hopper' }),
  })
  .meta({ id: 'TenantAdministratorInput', description: 'The first administrator of a new tenant.' })

export const TenantCreate = z
  .strictObject({
    slug: slug.meta(SLUG_META),
    settings: TenantSettings.nullish()
      .transform((value) => value ?? {})
      .meta({ description: 'The initial settings.' }),
    administrator: TenantAdministrator.nullish().meta({
      description: 'A person who is invited by mail and gets role admin on acceptance.',
    }),
  })
  .meta({ id: 'TenantCreate', description: 'A new tenant.' })

/** Settings as REST returns them, null where unset. */
export const TenantSettingsShape = z
  .object(mapShapes(TENANT_SETTINGS, 'answer'))
  .meta({ id: 'TenantSettings', ...META })

/** Which tenants a list is about. */
export const TENANT_FILTER = defineFilter({
  search: {
    shape: searchText,
    column: null,
    description:
      'Parts of the slug or the name, independent of case and accents. Each word of the search must be found.',
    example: 'acme',
  },
})
export type TenantFilter = Given<typeof TENANT_FILTER.members>

/** A tenant as REST returns it. */
export const TenantShape = z
  .object({
    slug: z.string().meta(SLUG_META),
    settings: TenantSettingsShape.meta({ description: 'The settings of the tenant.' }),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'Tenant', model: 'Tenant' })
