import { type BrandImage, getImageUrl } from '../core/brand-images.ts'
import { env } from '../core/env.ts'
import type { MessageTenant } from '../delivery/mail-content.ts'
import { type CachedTenant, findTenant } from './tenant-cache.ts'

/** The absolute URL of an image of the tenant. */
function toMessageImage(tenant: CachedTenant | null, image: BrandImage): string | null {
  const url = tenant && getImageUrl(tenant, image)
  return url ? new URL(url, env.baseUrl).href : null
}

/** The tenant as messages show it. At most a second old: one statement when it is not cached. */
export async function loadMessageTenant(slug: string): Promise<MessageTenant> {
  const tenant = await findTenant(slug)
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
  }
}
