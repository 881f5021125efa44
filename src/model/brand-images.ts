import { createHash } from 'node:crypto'

/** The images of a tenant, by their settings, with the name in their path. */
export const BRAND_IMAGES = { logoUrl: 'logo', darkLogoUrl: 'logo-dark', faviconUrl: 'favicon' } as const

export type BrandImage = keyof typeof BRAND_IMAGES

/** The images that a tenant has. */
export type BrandImages = { tenantId: string } & Partial<Record<BrandImage, string | null>>

/** 32 KB, and how many groups of three bytes that is. */
const MAX_GROUPS = 10_922

/** The start of the content in base64: the signature of PNG, JPEG and WebP. */
const SIGNATURES = [
  'png;base64,(?=iVBORw0KGgo)',
  'jpeg;base64,(?=/9j/)',
  'webp;base64,(?=UklGR[A-Za-z0-9+/]{6}XRUJQ)',
]

/**
 * A data URL (RFC 2397) of an image of 32 KB at most, whose content starts as its type says. SVG is not one of them,
 * because it can have scripts.
 */
export const DATA_IMAGE_PATTERN = `^data:image/(?:${SIGNATURES.join('|')})(?:[A-Za-z0-9+/]{4}){1,${MAX_GROUPS}}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`

const DATA_IMAGE = new RegExp(DATA_IMAGE_PATTERN, 'u')

/** Enough to recognize a stored data URL, which was parsed before. */
const DATA_IMAGE_START = /^data:image\/(?:png|jpeg|webp);base64,/

/** Parses a data URL of an image; null for anything else. */
export function parseDataImage(url: string | null | undefined): { type: string; content: Buffer } | null {
  if (!url || !DATA_IMAGE.test(url)) return null
  const separator = url.indexOf(';base64,')
  return {
    type: url.slice('data:'.length, separator),
    content: Buffer.from(url.slice(separator + ';base64,'.length), 'base64'),
  }
}

/** Changes with the image, so that browsers may keep it. */
export const hashImage = (url: string): string => createHash('sha256').update(url).digest('hex').slice(0, 16)

const isDataImage = (url: string | null | undefined): url is string => !!url && DATA_IMAGE_START.test(url)

/**
 * The URL of an image of a tenant: the setting itself, or the path of this server for a data URL, which would make
 * every page larger. Null without an image.
 */
export function getImageUrl(tenant: BrandImages, image: BrandImage): string | null {
  const url = tenant[image]
  if (!isDataImage(url)) return url || null
  return `/${tenant.tenantId}/brand/${BRAND_IMAGES[image]}?v=${hashImage(url)}`
}

/** The URL of the logo of a client. */
export function getClientLogoUrl(
  tenantId: string,
  { id, logoUrl }: { id: string; logoUrl: string | null },
): string | null {
  if (!isDataImage(logoUrl)) return logoUrl || null
  return `/${tenantId}/brand/clients/${encodeURIComponent(id)}?v=${hashImage(logoUrl)}`
}

/** Whether two paths of this server have the same version: that of their content. */
export const isSameImage = (path: string, other: string | null): boolean =>
  path.startsWith('/') && !!other?.startsWith('/') && path.split('?v=')[1] === other.split('?v=')[1]
