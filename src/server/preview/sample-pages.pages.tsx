import type { VNode } from 'preact'
import type { Words } from '../../languages/translations.ts'
import type { PageTenant } from '../../pages/page-shell.pages.tsx'
import { buildAccountSamples } from './account-samples.pages.tsx'
import { buildOutcomeSamples } from './outcome-samples.pages.tsx'
import { buildSignInSamples } from './sign-in-samples.pages.tsx'

/** The pages on which a person meets a tenant, by name. Their forms lead nowhere. */
export const buildSamplePages = (
  words: Words,
  tenant: PageTenant,
  now = new Date(),
): Record<string, VNode> => ({
  ...buildSignInSamples(words, tenant, now),
  ...buildOutcomeSamples(words, tenant, now),
  ...buildAccountSamples(tenant, now),
})
