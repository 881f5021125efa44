import { useState } from 'react'
import { graphql } from 'relay-runtime'
import { getConsoleUrl } from '../config.ts'
import type { tenantSwitcherQuery } from '../generated/tenantSwitcherQuery.graphql.ts'
import { ChoiceBox } from '../parts/choice-box.tsx'
import { useFound } from '../parts/use-found.ts'
import { t } from '../words/words.ts'

/** Finds a tenant, and opens its console. */
export function TenantSwitcher({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const search = text.trim()
  // Enter opens the first tenant: of what is entered now, and not of what was found before.
  const { found, problem } = useFound<tenantSwitcherQuery>(
    graphql`
      query tenantSwitcherQuery($filter: TenantFilter) {
        tenants(first: 20, filter: $filter) {
          nodes {
            id
            settings {
              friendlyName
            }
          }
        }
      }
    `,
    search,
    { filter: search ? { search } : null },
  )
  return (
    <ChoiceBox
      title={t('Open the console of a tenant')}
      label={t('Name or slug of a tenant')}
      placeholder={t('Search by name or slug')}
      text={text}
      onType={setText}
      choices={(found?.tenants?.nodes ?? []).map(({ id, settings }) => ({
        key: id,
        name: settings.friendlyName ?? id,
        detail: id,
        open: () => location.assign(getConsoleUrl(id)),
      }))}
      status={problem ?? (found ? t('No tenant has this name or slug.') : t('Searching…'))}
      onClose={onClose}
    />
  )
}
