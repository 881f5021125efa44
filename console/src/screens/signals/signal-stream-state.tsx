import { graphql, useFragment } from 'react-relay/hooks'
import type { signalStreamState_stream$key } from '../../generated/signalStreamState_stream.graphql.ts'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'

/** Whether a stream sends, and since when its receiver fails. */
export function SignalStreamState({ stream }: { stream: signalStreamState_stream$key }) {
  const { status, failingSince } = useFragment(
    graphql`
      fragment signalStreamState_stream on SignalStream {
        status
        failingSince
      }
    `,
    stream,
  )
  if (status === 'DISABLED') return <span className="badge">{t('Disabled')}</span>
  if (status === 'PAUSED') return <span className="badge">{t('Paused')}</span>
  if (failingSince === null) return <span className="badge calm">{t('Sends')}</span>
  return (
    <>
      <span className="badge warning">{t('Failing')}</span> <Time at={failingSince} />
    </>
  )
}
