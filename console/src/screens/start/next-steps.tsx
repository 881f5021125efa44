import '../../parts/setup-steps.css'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchQuery, graphql, useFragment, useRelayEnvironment } from 'react-relay/hooks'
import { deployment } from '../../config.ts'
import type { nextSteps_query$key } from '../../generated/nextSteps_query.graphql.ts'
import type { nextStepsQuery } from '../../generated/nextStepsQuery.graphql.ts'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { SETUP_STEPS } from '../../parts/setup-steps.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { toPathId } from '../applications/kinds.ts'

/** The steps that were dismissed in this browser: others are shown again. */
const STORED = `console.dismissed.${deployment.tenant}`

/** None where the stored text is something else. */
function readDismissed(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]')
    return Array.isArray(stored) ? stored : []
  } catch {
    return []
  }
}

/** A redirect URI that an application sent and that it does not have. */
type Refused = { clientId: string; url: string; count: number }

function gatherRefused(
  events: readonly {
    readonly subjectIds?: readonly string[]
    readonly detail?: Readonly<Record<string, unknown>> | null | undefined
  }[],
): Refused[] {
  const found = new Map<string, Refused>()
  for (const { subjectIds, detail } of events) {
    const [clientId] = subjectIds ?? []
    if (!clientId || detail?.member !== 'callbacks' || typeof detail.given !== 'string') continue
    const key = `${clientId} ${detail.given}`
    found.set(key, { clientId, url: detail.given, count: (found.get(key)?.count ?? 0) + 1 })
  }
  return [...found.values()]
}

/** What the tenant still needs, and redirect URIs that were refused in the last hour, each with the screen of its fix. */
export function NextSteps({
  query,
  since,
  after,
}: {
  query: nextSteps_query$key
  since: string
  after: string | null | undefined
}) {
  const environment = useRelayEnvironment()
  const mayFollow = useMay('events:read')
  const mayReadClients = useMay('clients:read')
  const [dismissed, setDismissed] = useState(readDismissed)
  const { tenant, refusals } = useFragment(
    graphql`
      fragment nextSteps_query on Query @argumentDefinitions(since: { type: "DateTime!" }) {
        tenant {
          setup {
            item
            done
          }
        }
        refusals: events(
          filter: { types: [AUTHORIZE_REFUSED], occurredAt: { gte: $since } }
          direction: DESC
          first: 50
        ) {
          nodes {
            ... on AuditEvent {
              subjectIds
              detail
            }
          }
        }
      }
    `,
    query,
  )
  const open = (tenant?.setup ?? []).flatMap(({ item, done }) =>
    done ? [] : [{ key: item as string, ...SETUP_STEPS[item as keyof typeof SETUP_STEPS] }],
  )
  const refused = mayReadClients ? gatherRefused(refusals?.nodes ?? []) : []
  const keys = [...open.map(({ key }) => key), ...refused.map(({ url }) => url)]
  const isShown = keys.some((key) => !dismissed.includes(key))
  const dismiss = () => {
    localStorage.setItem(STORED, JSON.stringify(keys))
    setDismissed(keys)
  }
  return (
    <>
      {mayFollow && (
        <LiveChanges
          types={[
            'TENANT_UPDATED',
            'TENANT_DELIVERY_FAILING',
            'TENANT_DELIVERY_RECOVERED',
            'CLIENT_CREATED',
            'CLIENT_UPDATED',
            'ROLE_CHANGED',
            'AUTHORIZE_REFUSED',
          ]}
          after={after}
          onChange={() =>
            fetchQuery<nextStepsQuery>(
              environment,
              graphql`
                query nextStepsQuery($since: DateTime!) {
                  ...nextSteps_query @arguments(since: $since)
                }
              `,
              { since },
            ).subscribe({})
          }
        />
      )}
      {isShown && (
        <section className="card next-steps">
          <header>
            <h2>{t('What to do next')}</h2>
            <button type="button" className="button quiet" onClick={dismiss}>
              {t('Dismiss')}
            </button>
          </header>
          <ul className="setup-steps">
            {refused.map(({ clientId, url, count }) => (
              <li key={`${clientId} ${url}`}>
                <span className="badge danger">{t('{count} refused', { count })}</span>
                <div>
                  <Link
                    to="/applications/$clientId"
                    params={{ clientId: toPathId(clientId) }}
                    search={{ tab: 'rejected' }}
                  >
                    {t('A redirect URI that the application does not have')}
                  </Link>
                  <p className="none">{url}</p>
                </div>
              </li>
            ))}
            {open.map(({ key, label, advice, to }) => (
              <li key={key}>
                <span className="badge warning">{t('open')}</span>
                <div>
                  {to === null ? <strong>{label}</strong> : <Link to={to}>{label}</Link>}
                  <p className="none">{advice}</p>
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}
