import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import {
  type BrandImage,
  type BrandImages,
  getImageUrl,
  isSameImage,
  parseDataImage,
} from '../../model/brand-images.ts'
import { IsSample } from './scripted-part.pages.tsx'

/** URLs allow more characters in a host; `;` would start another directive of the policy. */
const PLAIN_HOST = /^[\w.-]+$/

/**
 * The CSP source for an origin; null when it cannot be expressed, such as for an IPv6 address (CSP 3, section
 * 2.3.1).
 */
export const toOriginSource = ({ hostname, origin }: URL): string | null =>
  PLAIN_HOST.test(hostname) ? origin : null

/** The sources of the images of the page that is rendered. Its Content Security Policy allows them only. */
export const ImageSources = createContext(new Set<string>())

/** Returns an https URL and adds its origin to the sources of the page; null for any other URL. */
function useImage(url: string | null | undefined): string | null {
  const sources = useContext(ImageSources)
  if (!url || !URL.canParse(url)) return null
  const parsed = new URL(url)
  const source = parsed.protocol === 'https:' ? toOriginSource(parsed) : null
  if (!source) return null
  sources.add(source)
  return url
}

/** Returns a path of this server as it is. */
const useServedImage = (url: string | null, stored: string | null | undefined): string | null => {
  const image = useImage(url === stored ? url : null)
  return url === stored ? image : url
}

/** The URL of an image of the tenant, which may be one of this server; null without one. */
export function useTenantImage(tenant: BrandImages | null | undefined, image: BrandImage): string | null {
  const stored = tenant?.[image]
  const served = useServedImage(tenant ? getImageUrl(tenant, image) : null, stored)
  // The image of a sample may not be stored yet.
  return useContext(IsSample) && stored && parseDataImage(stored) ? stored : served
}

type LogoOwner = { logoUrl?: string | null }

/** Whether the client has the logo of the tenant. */
export const hasTenantLogo = ({ logoUrl }: LogoOwner, tenant: BrandImages | null | undefined): boolean =>
  !!logoUrl &&
  !!tenant &&
  (logoUrl === tenant.logoUrl || isSameImage(logoUrl, getImageUrl(tenant, 'logoUrl')))

/** The URL of the logo of a client, which may be a path of this server; null without one. */
export function useClientLogo(client: LogoOwner, tenant: BrandImages | null | undefined): string | null {
  const { logoUrl = null } = client
  const isServed = logoUrl?.startsWith('/') ?? false
  const [foreign, shared] = [useImage(isServed ? null : logoUrl), useTenantImage(tenant, 'logoUrl')]
  if (hasTenantLogo(client, tenant)) return shared
  return isServed ? logoUrl : foreign
}
