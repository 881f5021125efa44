import { z } from 'zod'
import { expectedUpdatedAt } from '../expected-updated-at.ts'
import { allowedUrl, clearable, flag, text } from '../fields.ts'
import { time } from '../shapes.ts'

const SLUG = /^[a-z0-9](-?[a-z0-9])*$/
const SLUG_MAX = 63
/** First path segments that are the deployment's own, so that no tenant can stand in front of them. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'health',
  'metrics',
  'assets',
  'dev',
  'favicon.ico',
  'robots.txt',
  '.well-known',
])

/** True when `value` can be the slug of a tenant; anything else is not worth asking the database. */
export const isSlug = (value: string): boolean =>
  value.length <= SLUG_MAX && SLUG.test(value) && !RESERVED_SLUGS.has(value)

export const slug = z
  .string('must be a string')
  .max(SLUG_MAX, `must have ${SLUG_MAX} characters at most`)
  .regex(SLUG, 'must be lower-case letters, digits and single hyphens between them')
  .refine((value) => !RESERVED_SLUGS.has(value), 'is reserved')

/** Examples of settings, for openapi.json. */
const samples = {
  friendlyName: 'Example Inc.',
  logoUrl: 'https://example.com/logo.png',
  defaultAudience: 'https://api.example.com',
  supportUrl: 'https://example.com/help',
}

/** Tenant settings, in the order of the spec's table. Omitted is unchanged, '' and null unset. */
export const TenantSettings = z
  .strictObject({
    friendlyName: clearable(text(200)),
    logoUrl: clearable(allowedUrl({ secure: true })),
    /** Often a URL, yet any identifier of an API will do (RFC 9068, section 3). */
    defaultAudience: clearable(text(2000)),
    loginUrl: clearable(allowedUrl({ secure: true })),
    supportUrl: clearable(allowedUrl({ fragment: true })),
    dynamicRegistration: flag,
    clientIdMetadataDocuments: flag,
  })
  .meta({ id: 'TenantSettingsInput', model: 'Tenant', samples })
export type TenantSettings = z.output<typeof TenantSettings>

/** Input of a change: the settings, and the updatedAt that the caller read. */
export const TenantSettingsPatch = TenantSettings.extend({ expectedUpdatedAt }).meta({
  id: 'TenantSettingsPatch',
  model: 'Tenant',
  example: { supportUrl: samples.supportUrl, loginUrl: null },
})

const SLUG_META = {
  description: 'Lower-case letters, digits and single hyphens, up to 63; for ever part of its addresses.',
  example: 'example',
}

export const TenantCreate = z
  .strictObject({
    slug: slug.meta(SLUG_META),
    settings: TenantSettings.nullish()
      .transform((value) => value ?? {})
      .meta({ description: 'Its first settings.' }),
  })
  .meta({ id: 'TenantCreate', description: 'A new tenant.' })

const FLAGS = ['dynamicRegistration', 'clientIdMetadataDocuments'] as const
type Flag = (typeof FLAGS)[number]
type Text = Exclude<keyof typeof TenantSettings.shape, Flag>

/** Settings as REST answers them, null where unset; what is on or off is never unset. */
export const TenantSettingsShape = z
  .object(
    Object.fromEntries(
      Object.keys(TenantSettings.shape).map((name) => [
        name,
        (FLAGS as readonly string[]).includes(name) ? z.boolean() : z.string().nullable(),
      ]),
    ) as Record<Text, z.ZodNullable<z.ZodString>> & Record<Flag, z.ZodBoolean>,
  )
  .meta({ id: 'TenantSettings', model: 'Tenant', samples })

/** A tenant as REST answers it. */
export const TenantShape = z
  .object({
    slug: z.string().meta(SLUG_META),
    settings: TenantSettingsShape.meta({ description: 'What the tenant chose for itself.' }),
    updatedAt: time,
    createdAt: time,
  })
  .meta({ id: 'Tenant', model: 'Tenant' })
