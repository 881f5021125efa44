import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { graphql } from 'react-relay/hooks'
import type { signalStreamScreenDeleteMutation } from '../../generated/signalStreamScreenDeleteMutation.graphql.ts'
import type { signalStreamScreenQuery } from '../../generated/signalStreamScreenQuery.graphql.ts'
import type { signalStreamScreenUpdateMutation } from '../../generated/signalStreamScreenUpdateMutation.graphql.ts'
import type { signalStreamScreenVerifyMutation } from '../../generated/signalStreamScreenVerifyMutation.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { SignalStreamState } from './signal-stream-state.tsx'

const route = getRouteApi('/signal-streams/$streamId')

/** One stream of shared signals: its receiver, what became of it, and what may be done. */
export function SignalStreamScreen() {
  const { streamId } = route.useParams()
  const navigate = useNavigate()
  const [{ viewer, signalStream }, refresh] = useScreenQuery<signalStreamScreenQuery>(
    graphql`
      query signalStreamScreenQuery($streamId: ID!) {
        viewer {
          eventPosition
        }
        signalStream(id: $streamId) {
          id
          clientId
          url
          description
          eventsRequested
          allUsers
          status
          statusReason
          lastError
          acceptedAt
          position
          ...signalStreamState_stream
        }
      }
    `,
    { streamId },
  )
  const update = useProblemMutation<signalStreamScreenUpdateMutation>(graphql`
    mutation signalStreamScreenUpdateMutation($streamId: ID!, $status: SignalStreamStatus!) {
      updateSignalStream(input: { signalStreamId: $streamId, status: $status }) {
        ... on UpdateSignalStreamPayload {
          signalStream {
            id
            status
            ...signalStreamState_stream
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const verify = useProblemMutation<signalStreamScreenVerifyMutation>(graphql`
    mutation signalStreamScreenVerifyMutation($streamId: ID!) {
      verifySignalStream(input: { signalStreamId: $streamId }) {
        ... on VerifySignalStreamPayload {
          signalStream {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const remove = useProblemMutation<signalStreamScreenDeleteMutation>(graphql`
    mutation signalStreamScreenDeleteMutation($streamId: ID!) {
      deleteSignalStream(input: { signalStreamId: $streamId }) {
        ... on DeleteSignalStreamPayload {
          deletedSignalStreamId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('clients:write')
  if (!signalStream)
    return (
      <div className="outcome">
        <h1>{t('There is no such stream')}</h1>
        <Link to="/signal-streams" className="button">
          {t('All streams')}
        </Link>
      </div>
    )
  const { id, clientId, url, description, eventsRequested, allUsers, status } = signalStream
  const name = description ?? id
  const isEnabled = status === 'ENABLED'
  return (
    <section className="screen">
      {mayFollow && <LiveChanges subjectId={id} after={viewer?.eventPosition} onChange={refresh} />}
      <header className="screen-head">
        <div>
          <h1>{name}</h1>
          <CopiedText text={id} />
        </div>
        <SignalStreamState stream={signalStream} />
      </header>
      <dl className="facts card">
        <dt>{t('Application')}</dt>
        <dd>
          <CopiedText text={clientId} />
        </dd>
        <dt>{t('Receiver')}</dt>
        <dd>{url ?? t('polls')}</dd>
        <dt>{t('Events')}</dt>
        <dd>
          {eventsRequested.length === 0
            ? t('all')
            : eventsRequested.map((uri) => uri.slice(uri.lastIndexOf('/') + 1)).join(', ')}
        </dd>
        <dt>{t('Users')}</dt>
        <dd>{allUsers ? t('all') : t('those who use the client')}</dd>
        <dt>{t('Position in the log')}</dt>
        <dd>
          <CopiedText text={signalStream.position} />
        </dd>
        <dt>{t('Last accepted')}</dt>
        <dd>
          {signalStream.acceptedAt === null ? (
            <span className="none">{t('none')}</span>
          ) : (
            <Time at={signalStream.acceptedAt} />
          )}
        </dd>
        <dt>{t('Last error')}</dt>
        <dd>{signalStream.lastError ?? <span className="none">{t('none')}</span>}</dd>
        {signalStream.statusReason && (
          <>
            <dt>{t('Reason of the state')}</dt>
            <dd>{signalStream.statusReason}</dd>
          </>
        )}
      </dl>
      {mayWrite && (
        <div className="actions">
          {isEnabled && (
            <button
              type="button"
              className="button"
              disabled={verify.isRunning}
              onClick={() => verify.run({ streamId }, () => refresh())}
            >
              {t('Send a verification')}
            </button>
          )}
          <button
            type="button"
            className="button quiet"
            disabled={update.isRunning}
            onClick={() => update.run({ streamId, status: isEnabled ? 'PAUSED' : 'ENABLED' })}
          >
            {isEnabled ? t('Pause') : t('Enable')}
          </button>
          <ConfirmedButton
            label={t('Delete')}
            title={t('Delete {name}', { name })}
            consequence={t('The receiver hears of nothing any more, and what waits is deleted.')}
            name={name}
            isRunning={remove.isRunning}
            problem={remove.problem}
            onConfirm={(close) =>
              remove.run({ streamId }, () => {
                close()
                notify(t('{name} is deleted.', { name }))
                void navigate({ to: '/signal-streams' })
              })
            }
          />
        </div>
      )}
      <ProblemText problem={verify.problem ?? update.problem} />
    </section>
  )
}
