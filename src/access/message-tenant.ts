import type { MessageTenant } from '../delivery/mail-content.ts'
import { findTenant } from './tenant-cache.ts'

/** The tenant as messages show it. At most a second old: one statement when it is not cached. */
export async function loadMessageTenant(slug: string): Promise<MessageTenant> {
  const tenant = await findTenant(slug)
  return {
    name: tenant?.friendlyName ?? slug,
    logoUrl: tenant?.logoUrl ?? null,
    darkLogoUrl: tenant?.darkLogoUrl,
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
