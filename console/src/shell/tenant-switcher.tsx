import { useEffect, useState } from 'react'
import { fetchQuery, graphql } from 'relay-runtime'
import { environment } from '../api/environment.ts'
import { getConsoleUrl } from '../config.ts'
import type {
  tenantSwitcherQuery,
  tenantSwitcherQuery$data,
} from '../generated/tenantSwitcherQuery.graphql.ts'
import { ChoiceBox } from '../parts/choice-box.tsx'
import { t } from '../words/words.ts'

const WAIT_MS = 150

type Tenants = NonNullable<tenantSwitcherQuery$data['tenants']>['nodes']

/** Finds a tenant, and opens its console. */
export function TenantSwitcher({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  // Enter opens the first tenant: of what is entered now, and not of what was found before.
  const [{ sought, tenants }, setFound] = useState<{ sought: string | null; tenants: Tenants }>({
    sought: null,
    tenants: [],
  })
  const [problem, setProblem] = useState<string | null>(null)
  const search = text.trim()
  useEffect(() => {
    let request: { unsubscribe: () => void } | undefined
    const timer = setTimeout(
      () => {
        setProblem(null)
        request = fetchQuery<tenantSwitcherQuery>(
          environment,
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
          { filter: search ? { search } : null },
        ).subscribe({
          next: (found) => setFound({ sought: search, tenants: found.tenants?.nodes ?? [] }),
          error: (error: Error) => setProblem(error.message),
        })
      },
      search ? WAIT_MS : 0,
    )
    return () => {
      clearTimeout(timer)
      request?.unsubscribe()
    }
  }, [search])
  return (
    <ChoiceBox
      title={t('Open the console of a tenant')}
      label={t('Name or slug of a tenant')}
      placeholder={t('Search by name or slug')}
      text={text}
      onType={setText}
      choices={(sought === search ? tenants : []).map(({ id, settings }) => ({
        key: id,
        name: settings.friendlyName ?? id,
        detail: id,
        open: () => location.assign(getConsoleUrl(id)),
      }))}
      status={problem ?? (sought === search ? t('No tenant has this name or slug.') : t('Searching…'))}
      onClose={onClose}
    />
  )
}
