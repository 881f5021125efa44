import * as z from 'zod'
import { COMMON_SCOPES, ROLE_NAMES, type Role } from '../core/scopes.ts'
import { SECOND_FACTOR_MODES, SIGN_IN_METHODS } from '../core/sign-in-methods.ts'
import { LANGUAGES } from '../languages/catalogs.ts'
import { expectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { createImageUrl } from '../schema/image-shapes.ts'
import { flag, integer, oneOf, switchedOn, text, toClearable, toOptional } from '../schema/input-shapes.ts'
import { instantShape } from '../schema/response-shapes.ts'
import { slug } from '../schema/slug.ts'
import { createAllowedUrl } from '../schema/url-shapes.ts'
import { brandSamples, brandSettings, brandShapes, brandTexts } from './brand-settings.fields.ts'
import { senderSamples, senderTexts } from './mail-sender.fields.ts'
import {
  country,
  PASSCODE_SETTING_SAMPLES,
  passcodeSettings,
  passcodeSettingsShapes,
} from './passcode-settings.fields.ts'
import {
  findSessionIssues,
  sessionSamples,
  sessionSettingShapes,
  sessionSettings,
} from './session-settings.fields.ts'
import {
  findSignUpIssues,
  signUpSamples,
  signUpSettingShapes,
  signUpSettings,
  termsSettings,
} from './sign-up-settings.fields.ts'
import { textOverrideSamples, textOverrideSettings, textOverrideShapes } from './text-overrides.fields.ts'

/** Examples of settings, for openapi.json. */
const tenantSamples = {
  friendlyName: 'Example Inc.',
  logoUrl: 'https://example.com/logo.png',
  defaultAudience: 'https://api.example.com',
  supportUrl: 'https://example.com/help',
  ...signUpSamples,
  defaultLocale: 'de',
  defaultScopes: ['email'],
  signInMethods: ['passkey', 'passcode'],
  offerPasskey: true,
  secondFactor: 'if-enrolled',
  secondFactorRoles: ['admin'],
  recoveryWaitingTime: 86400,
  ...sessionSamples,
  ...PASSCODE_SETTING_SAMPLES,
  ...brandSamples,
  ...senderSamples,
  ...textOverrideSamples,
}

/** Settings that are text, in the order of the API. */
const textSettings = {
  friendlyName: text(200),
  logoUrl: createImageUrl(),
  /** Often a URL, but any identifier of an API is valid (RFC 9068, section 3). */
  defaultAudience: text(2000),
  loginUrl: createAllowedUrl({ secure: true }),
  supportUrl: createAllowedUrl({ fragment: true }),
  phoneCountry: country,
  defaultLocale: oneOf(LANGUAGES as [string, ...string[]]),
}
/** Switches are never unset. */
const switches = { dynamicRegistration: flag, clientIdMetadataDocuments: flag, openRegistration: flag }
/** The scopes that every client may request. Null is none. */
const scopeSettings = {
  defaultScopes: z
    .array(oneOf(COMMON_SCOPES), 'must be an array')
    .max(100, 'must have at most 100 entries')
    .nullable()
    .transform((scopes) => [...new Set(scopes ?? [])])
    .optional(),
}
/** At least one, so that users can sign in. Null is the default. */
const methods = {
  signInMethods: z
    .array(oneOf(SIGN_IN_METHODS), 'must be an array')
    .min(1, 'must not be empty')
    .max(100, 'must have at most 100 entries')
    .nullable()
    .transform((names) => [...new Set(names ?? SIGN_IN_METHODS)])
    .optional(),
}
/** Switches that are on unless they are switched off. */
const switchesOn = { offerPasskey: switchedOn }
/** A person who lost everything waits 30 days at most. */
const MAX_WAITING_SECONDS = 30 * 86_400
/** Never unset: null is the default. */
const secondFactorSettings = {
  secondFactor: oneOf(SECOND_FACTOR_MODES)
    .nullable()
    .transform((mode) => mode ?? 'if-enrolled')
    .optional(),
  secondFactorRoles: z
    .array(oneOf(ROLE_NAMES as [Role, ...Role[]]), 'must be an array')
    .max(100, 'must have at most 100 entries')
    .nullable()
    .transform((roles) => [...new Set(roles ?? [])])
    .optional(),
  recoveryWaitingTime: integer(0, MAX_WAITING_SECONDS)
    .nullable()
    .transform((seconds) => seconds ?? 0)
    .optional(),
}
/** As REST returns them. */
const secondFactorShapes = {
  secondFactor: z.enum(SECOND_FACTOR_MODES),
  secondFactorRoles: z.array(z.enum(ROLE_NAMES)),
  recoveryWaitingTime: z.int(),
}

/** The settings of a new tenant. */
const TenantSettings = z
  .strictObject({
    ...toOptional(textSettings),
    ...switches,
    ...scopeSettings,
    ...signUpSettings,
    ...toOptional(termsSettings),
    ...methods,
    ...switchesOn,
    ...secondFactorSettings,
    ...sessionSettings,
    ...passcodeSettings,
    ...toOptional(brandTexts),
    ...brandSettings,
    ...toOptional(senderTexts),
    ...textOverrideSettings,
  })
  .superRefine((settings, context) => {
    for (const { field, description } of [...findSignUpIssues(settings), ...findSessionIssues(settings)])
      context.addIssue({ code: 'custom', path: [field], message: description })
  })
  .meta({ id: 'TenantSettingsInput', model: 'Tenant', samples: tenantSamples })
export type TenantSettings = z.output<typeof TenantSettings>

/** Input of an update: the settings, and the updatedAt that the caller read. */
export const TenantSettingsPatch = z
  .strictObject({
    ...toClearable(textSettings),
    ...switches,
    ...scopeSettings,
    ...signUpSettings,
    ...toClearable(termsSettings),
    ...methods,
    ...switchesOn,
    ...secondFactorSettings,
    ...sessionSettings,
    ...passcodeSettings,
    ...toClearable(brandTexts),
    ...brandSettings,
    ...toClearable(senderTexts),
    ...textOverrideSettings,
    expectedUpdatedAt,
  })
  .meta({
    id: 'TenantSettingsPatch',
    model: 'Tenant',
    example: { supportUrl: tenantSamples.supportUrl, loginUrl: null },
  })

const SLUG_META = {
  description:
    'Lower-case letters, digits and single hyphens, up to 63. It is part of the URLs of the tenant and never changes.',
  example: 'example',
}

export const TenantCreate = z
  .strictObject({
    slug: slug.meta(SLUG_META),
    settings: TenantSettings.nullish()
      .transform((value) => value ?? {})
      .meta({ description: 'The initial settings.' }),
  })
  .meta({ id: 'TenantCreate', description: 'A new tenant.' })

const toShapes = <Name extends string, Shape>(fields: Record<Name, unknown>, shape: Shape) =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, shape])) as Record<Name, Shape>

/** Settings as REST returns them, null where unset. */
export const TenantSettingsShape = z
  .object({
    ...toShapes(textSettings, z.string().nullable()),
    ...toShapes(switches, z.boolean()),
    ...toShapes(scopeSettings, z.array(z.enum(COMMON_SCOPES))),
    ...signUpSettingShapes,
    ...toShapes(termsSettings, z.string().nullable()),
    ...toShapes(methods, z.array(z.enum(SIGN_IN_METHODS))),
    ...toShapes(switchesOn, z.boolean()),
    ...secondFactorShapes,
    ...sessionSettingShapes,
    ...passcodeSettingsShapes,
    ...toShapes(brandTexts, z.string().nullable()),
    ...brandShapes,
    ...toShapes(senderTexts, z.string().nullable()),
    ...textOverrideShapes,
  })
  .meta({ id: 'TenantSettings', model: 'Tenant', samples: tenantSamples })

/** A tenant as REST returns it. */
export const TenantShape = z
  .object({
    slug: z.string().meta(SLUG_META),
    settings: TenantSettingsShape.meta({ description: 'The settings of the tenant.' }),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'Tenant', model: 'Tenant' })
