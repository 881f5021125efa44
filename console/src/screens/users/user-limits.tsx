import { graphql, useFragment } from 'react-relay/hooks'
import type { userLimits_user$key } from '../../generated/userLimits_user.graphql.ts'
import type { userLimitsResetMutation } from '../../generated/userLimitsResetMutation.graphql.ts'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { Time } from '../../parts/time.tsx'
import { t, tNodes } from '../../words/words.ts'

/** How many codes were requested and guessed wrong, and until when this restricts the user. */
export function UserLimits({
  user: key,
  mayChange,
  onChange,
}: {
  user: userLimits_user$key
  mayChange: boolean
  onChange: () => void
}) {
  const { id, signInLimits } = useFragment(
    graphql`
      fragment userLimits_user on User {
        id
        signInLimits {
          channel
          sentCodes
          wrongGuesses
          codesAgainAt
          longCodesUntil
        }
      }
    `,
    key,
  )
  const reset = useProblemMutation<userLimitsResetMutation>(graphql`
    mutation userLimitsResetMutation($userId: ID!) {
      resetSignInLimits(input: { userId: $userId }) {
        ... on ResetSignInLimitsPayload {
          userId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!signInLimits || signInLimits.length === 0) return null
  const isUsed = signInLimits.some(({ sentCodes, wrongGuesses }) => sentCodes > 0 || wrongGuesses > 0)
  return (
    <section className="card">
      <h2>
        {t('Limits of codes')}
        {mayChange && (
          <button
            type="button"
            className="button quiet"
            disabled={!isUsed || reset.isRunning}
            onClick={() =>
              reset.run({ userId: id }, () => {
                notify(t('The limits are reset.'))
                onChange()
              })
            }
          >
            {t('Reset')}
          </button>
        )}
      </h2>
      <ProblemText problem={reset.problem} />
      <ul className="sessions">
        {signInLimits.map(({ channel, sentCodes, wrongGuesses, codesAgainAt, longCodesUntil }) => (
          <li key={channel}>
            <div>
              <strong>{channel === 'SMS' ? t('Text messages') : t('Email')}</strong>
              <span>
                {t('{sentCodes} codes requested in this hour · {wrongGuesses} wrong guesses', {
                  sentCodes,
                  wrongGuesses,
                })}
              </span>
            </div>
            {codesAgainAt && (
              <span className="badge danger">
                {tNodes('sent again {time}', { time: <Time at={codesAgainAt} /> })}
              </span>
            )}
            {longCodesUntil && <span className="badge warning">{t('ten digits')}</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}
