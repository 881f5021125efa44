import { getInitial } from '../../core/initial.ts'
import type { Brand } from '../../model/brand.ts'
import { computeAccent, type Scheme } from '../../model/palette.ts'

/** The icon of browser tabs where the page belongs to no tenant. */
export const FAVICON_PATH = '/favicon.svg'

/** The path of the icon of a tenant without one of its own. */
export const buildFaviconPath = (tenant: { tenantId: string } | null | undefined): string =>
  tenant ? `/${tenant.tenantId}${FAVICON_PATH}` : FAVICON_PATH

const XML_ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function buildColorRule(brand: Brand, scheme: Scheme): string {
  const { accent, 'on-accent': onAccent } = computeAccent(brand, scheme)
  return `rect{fill:${accent}}text{fill:${onAccent}}`
}

/** An icon with the initial of a name, in the colors of the brand for both schemes. */
export function renderFavicon(name: string, brand: Brand = {}): string {
  const initial = getInitial(name).replace(/[&<>]/g, (character) => XML_ENTITIES[character] ?? '')
  const css = `${buildColorRule(brand, 'light')}@media (prefers-color-scheme:dark){${buildColorRule(brand, 'dark')}}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>${css}</style><rect width="32" height="32" rx="8"/><text x="16" y="16" dy=".36em" text-anchor="middle" font-family="system-ui,sans-serif" font-size="18" font-weight="700">${initial}</text></svg>`
}
