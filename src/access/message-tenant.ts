import type { Ctx } from '../context/context.ts'
import { env } from '../core/env.ts'
import type { MessageFrame, MessageTenant } from '../delivery/mail-content.ts'
import type { OwnServers } from '../delivery/own-servers.ts'
import { FALLBACK_LANGUAGE } from '../languages/catalogs.ts'
import { findPageLanguage } from '../languages/request-language.ts'
import { selectLanguage } from '../languages/select-language.ts'
import { getTenantWords } from '../languages/text-overrides.ts'
import { type BrandImage, getImageUrl } from '../model/brand-images.ts'
import type { Reader } from '../model/language-sources.ts'
import type { TextOverride } from '../model/text-override.ts'
import { type CachedTenant, findTenant } from './tenant-cache.ts'

/** The absolute URL of an image of the tenant. */
function toMessageImage(tenant: CachedTenant | null, image: BrandImage): string | null {
  const url = tenant && getImageUrl(tenant, image)
  return url ? new URL(url, env.baseUrl).href : null
}

/** The tenant as messages show it. At most a second old: one statement when it is not cached. */
export const loadMessageTenant = async (slug: string): Promise<MessageTenant> =>
  toMessageTenant(slug, await findTenant(slug))

const toOwnServers = (slug: string, tenant: CachedTenant): OwnServers => ({
  tenant: slug,
  mailServer: tenant.mailServer,
  mailServerUser: tenant.mailServerUser,
  mailServerPassword: tenant.mailServerPassword,
  smsGatewayUrl: tenant.smsGatewayUrl,
  smsGatewayToken: tenant.smsGatewayToken,
  mailFailingSince: tenant.mailFailingSince,
  smsFailingSince: tenant.smsFailingSince,
})

export function toMessageTenant(slug: string, tenant: CachedTenant | null): MessageTenant {
  return {
    name: tenant?.friendlyName ?? slug,
    logoUrl: toMessageImage(tenant, 'logoUrl'),
    darkLogoUrl: toMessageImage(tenant, 'darkLogoUrl'),
    supportUrl: tenant?.supportUrl ?? null,
    themeColor: tenant?.themeColor,
    darkThemeColor: tenant?.darkThemeColor,
    cornerRadius: tenant?.cornerRadius,
    font: tenant?.font,
    termsUrl: tenant?.termsUrl,
    privacyUrl: tenant?.privacyUrl,
    senderName: tenant?.mailSenderName,
    senderAddress: tenant?.mailSenderAddress,
    replyTo: tenant?.mailReplyTo,
    ...(tenant && { servers: toOwnServers(slug, tenant) }),
    defaultLocale: tenant?.defaultLocale,
    textOverrides: tenant?.textOverrides as TextOverride[] | undefined,
  }
}

/** What decides about the language of a message before the tenant does: the page that caused it, or its user. */
type LanguageSource = 'page' | 'user'

/**
 * What a person requests on a page has the language of the page. A notice has the language of its user, because
 * somebody else may have caused it.
 */
export const REQUESTED = ['page', 'user'] as const satisfies LanguageSource[]
export const NOTICE = ['user', 'page'] as const satisfies LanguageSource[]
/** A notice of what a stranger may have done: the page does not decide about its language. */
export const WARNING = ['user'] as const satisfies LanguageSource[]

/** The tenant with the words of a message for a user with `locale`. */
export function frameMessage(
  reader: Reader,
  tenant: MessageTenant,
  locale: string | null,
  sources: readonly LanguageSource[] = REQUESTED,
): MessageFrame {
  const tags = { page: findPageLanguage(reader), user: locale }
  const candidates = [...sources.map((source) => tags[source]), tenant.defaultLocale]
  const language = selectLanguage(candidates.filter((tag) => typeof tag === 'string'))
  return { tenant, words: getTenantWords(language ?? FALLBACK_LANGUAGE, tenant.textOverrides ?? null) }
}

/** The frame of a message of the context's tenant. */
export const loadMessageFrame = async (
  ctx: Ctx,
  locale: string | null,
  sources?: readonly LanguageSource[],
): Promise<MessageFrame> => frameMessage(ctx, await loadMessageTenant(ctx.tenant), locale, sources)
