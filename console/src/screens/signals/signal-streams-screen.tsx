import { Link } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import type { signalStreamsScreenQuery } from '../../generated/signalStreamsScreenQuery.graphql.ts'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { SignalStreamState } from './signal-stream-state.tsx'

/** The streams of shared signals of the tenant, which its clients create. */
export function SignalStreamsScreen() {
  const [{ viewer, signalStreams }, refresh] = useScreenQuery<signalStreamsScreenQuery>(
    graphql`
      query signalStreamsScreenQuery {
        viewer {
          eventPosition
        }
        signalStreams(first: 200) {
          nodes {
            id
            clientId
            url
            description
            createdAt
            ...signalStreamState_stream
          }
        }
      }
    `,
    {},
  )
  const mayFollow = useMay('events:read')
  if (!signalStreams) return <p className="empty">{t('You may not read streams.')}</p>
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges
          types={[
            'SIGNAL_STREAM_CREATED',
            'SIGNAL_STREAM_UPDATED',
            'SIGNAL_STREAM_DELETED',
            'SIGNAL_STREAM_FAILING',
            'SIGNAL_STREAM_RECOVERED',
            'SIGNAL_STREAM_DISABLED',
          ]}
          after={viewer?.eventPosition}
          onChange={refresh}
        />
      )}
      <header className="screen-head">
        <h1>{t('Shared signals')}</h1>
      </header>
      {signalStreams.nodes.length === 0 ? (
        <p className="empty">
          {t(
            'No stream yet. A client with the scope ssf.manage creates streams, which say when sessions end.',
          )}
        </p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t('Stream')}</th>
              <th scope="col">{t('State')}</th>
              <th scope="col">{t('Receiver')}</th>
              <th scope="col">{t('Created')}</th>
            </tr>
          </thead>
          <tbody>
            {signalStreams.nodes.map((stream) => (
              <tr key={stream.id}>
                <th scope="row">
                  <Link to="/signal-streams/$streamId" params={{ streamId: stream.id }}>
                    {stream.description ?? stream.id}
                  </Link>
                  <p className="hint">{stream.clientId}</p>
                </th>
                <td>
                  <SignalStreamState stream={stream} />
                </td>
                <td data-label={t('Receiver')}>{stream.url ?? t('polls')}</td>
                <td data-label={t('Created')}>
                  <Time at={stream.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
