import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { rejections_client$key } from '../../generated/rejections_client.graphql.ts'
import type { rejections_events$key } from '../../generated/rejections_events.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tNodes } from '../../words/words.ts'
import { useUpdateClient } from './update-client.ts'

/** The lists of a client whose lack of an address is a reason for a rejection. */
const MEMBERS = {
  callbacks: t('redirect URI'),
  allowedLogoutUrls: t('logout URL'),
  allowedOrigins: t('origin'),
} as const
type Member = keyof typeof MEMBERS
type Missing = { member: Member; url: string }

const isMember = (text: unknown): text is Member => typeof text === 'string' && Object.hasOwn(MEMBERS, text)

/** Details of an event longer than this are cut off. */
const MAX_DETAIL = 500

type Detail = Readonly<Record<string, unknown>> | null | undefined

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const getGiven = (detail: Detail): string | undefined => toText(detail?.given) ?? toText(detail?.origin)

/** The address that the client would need for the request to be accepted. */
function findMissing(detail: Detail): Missing | null {
  const url = getGiven(detail)
  return isMember(detail?.member) && url && url.length < MAX_DETAIL ? { member: detail.member, url } : null
}

/** Requests of an application that were rejected, with the reason, and with what makes them accepted. */
export function Rejections({
  client: clientKey,
  query,
}: {
  client: rejections_client$key
  query: rejections_events$key
}) {
  const client = useFragment(
    graphql`
      fragment rejections_client on Client {
        id
        name
        updatedAt
        callbacks
        allowedLogoutUrls
        allowedOrigins
      }
    `,
    clientKey,
  )
  const { rejections } = useFragment(
    graphql`
      fragment rejections_events on Query @argumentDefinitions(clientId: { type: "ID!" }) {
        rejections: events(
          filter: { subjectId: $clientId, types: [AUTHORIZE_REFUSED, TOKEN_REFUSED] }
          direction: DESC
          first: 30
        ) {
          nodes {
            id
            occurredAt
            requestId
            actor {
              ip
            }
            ... on AuditEvent {
              detail
            }
          }
        }
      }
    `,
    query,
  )
  const mayWrite = useMay('clients:write')
  const [missing, setMissing] = useState<Missing | null>(null)
  const update = useUpdateClient()
  if (!rejections) return <p className="empty">{t('You may not read the log.')}</p>
  const add = ({ member, url }: Missing) => {
    const former = client[member]
    const change = (urls: readonly string[], expectedUpdatedAt?: string) => ({
      input: { clientId: client.id, [member]: urls, expectedUpdatedAt },
    })
    update.run(change([...former, url], client.updatedAt), ({ updateClient }) => {
      setMissing(null)
      notify(t('The {member} is added.', { member: MEMBERS[member] }), () =>
        update.run(change(former, updateClient?.client?.updatedAt), undefined, ({ message }) =>
          notify(t('Not undone: {message}', { message })),
        ),
      )
    })
  }
  return (
    <section className="card">
      <h2>{t('Rejected requests of the last week')}</h2>
      {!missing && <ProblemText problem={update.problem} />}
      {rejections.nodes.length === 0 && (
        <p className="empty">{t('None. A rejected request appears here at once.')}</p>
      )}
      <ul className="rejections">
        {rejections.nodes.map(({ id, occurredAt, requestId, actor, detail }) => {
          const found = findMissing(detail)
          const isAdded = found !== null && client[found.member].includes(found.url)
          return (
            <li key={id}>
              <div>
                <strong>{toText(detail?.description) ?? toText(detail?.error)}</strong>
                {getGiven(detail) && (
                  <span>{tNodes('Given {value}', { value: <code>{getGiven(detail)}</code> })}</span>
                )}
                {toText(detail?.difference) && (
                  <span>{t('Difference: {difference}', { difference: toText(detail?.difference) })}</span>
                )}
                <span>{[toText(detail?.error), actor?.ip, requestId].filter(Boolean).join(' · ')}</span>
              </div>
              {requestId && (
                <Link className="button quiet" to="/explain" search={{ requestId }}>
                  {t('Explain')}
                </Link>
              )}
              {isAdded && <span className="badge calm">{t('Added since')}</span>}
              {found && !isAdded && mayWrite && (
                <button type="button" className="button quiet" onClick={() => setMissing(found)}>
                  {t('Add this {member}', { member: MEMBERS[found.member] })}
                </button>
              )}
              <Time at={occurredAt} />
            </li>
          )
        })}
      </ul>
      {missing && (
        <Dialog
          title={t('Add a {member} to {name}?', { member: MEMBERS[missing.member], name: client.name })}
          onClose={() => setMissing(null)}
        >
          <p className="address">
            <code>{missing.url}</code>
          </p>
          <p>
            {t(
              'Anybody can send such a request. Add the address only if it belongs to the application: people, and their sign-in, are sent there.',
            )}
          </p>
          <ProblemText problem={update.problem} />
          <div className="actions">
            <button type="button" className="button" disabled={update.isRunning} onClick={() => add(missing)}>
              {t('Add')}
            </button>
            <button type="button" className="button quiet" onClick={() => setMissing(null)}>
              {t('Cancel')}
            </button>
          </div>
        </Dialog>
      )}
    </section>
  )
}
