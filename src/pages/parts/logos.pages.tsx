import type { VNode } from 'preact'
import { getInitial } from '../../core/initial.ts'
import type { BrandImages } from '../../model/brand-images.ts'
import { useClientLogo, useTenantImage } from './page-images.pages.tsx'

/** The tenant's logo, and the one for dark screens if there is one. Decorative: the page shows the name as text. */
export function TenantLogo({ tenant }: { tenant: BrandImages }): VNode | null {
  const [logo, dark] = [useTenantImage(tenant, 'logoUrl'), useTenantImage(tenant, 'darkLogoUrl')]
  if (!logo && !dark) return null
  return (
    <picture>
      {logo && dark && <source srcset={dark} media="(prefers-color-scheme: dark)" />}
      <img class="tenant-logo" src={logo ?? dark ?? ''} alt="" width={32} height={32} />
    </picture>
  )
}

type ClientMarkProps = {
  client: { name: string; logoUrl?: string | null }
  tenant: BrandImages | null | undefined
}

/**
 * The client's logo, or the first letter of its name in its color. Decorative: the page shows the name as
 * text.
 */
export function ClientMark({ client, tenant }: ClientMarkProps): VNode {
  const logo = useClientLogo(client, tenant)
  if (logo) return <img class="mark" src={logo} alt="" width={56} height={56} />
  return (
    <span class="mark" aria-hidden="true">
      {getInitial(client.name)}
    </span>
  )
}

const OUTCOME_SIGNS = { good: '✓', neutral: '–', bad: '!' } as const

export type Outcome = keyof typeof OUTCOME_SIGNS

/** The sign of what has happened, in place of the mark of the client. */
export const OutcomeMark = ({ outcome }: { outcome: Outcome }): VNode => (
  <span class={`mark ${outcome}`} aria-hidden="true">
    {OUTCOME_SIGNS[outcome]}
  </span>
)
