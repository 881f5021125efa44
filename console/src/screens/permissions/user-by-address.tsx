import { type FormEvent, useState } from 'react'
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay/hooks'
import type { userByAddressQuery } from '../../generated/userByAddressQuery.graphql.ts'
import { Field, ProblemText } from '../../parts/form.tsx'
import { type Problem, toProblem } from '../../parts/result.ts'
import { t } from '../../words/words.ts'

/** A form that finds the user with an e-mail address. */
export function UserByAddress({
  label,
  submitLabel,
  isRunning,
  problem,
  onFound,
}: {
  label: string
  submitLabel: string
  /** Of the action with the user. */
  isRunning: boolean
  problem: Problem | null
  /** `reset` empties the field. */
  onFound: (user: { id: string; name: string | null; email: string }, reset: () => void) => void
}) {
  const environment = useRelayEnvironment()
  const [email, setEmail] = useState('')
  const [notFound, setNotFound] = useState<Problem | null>(null)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setNotFound(null)
    fetchQuery<userByAddressQuery>(
      environment,
      graphql`
        query userByAddressQuery($email: EmailAddress!) {
          userByEmail(email: $email) {
            id
            name
          }
        }
      `,
      { email: email.trim() },
    ).subscribe({
      error: (error: Error) => setNotFound(toProblem(error)),
      next: ({ userByEmail: user }) => {
        if (user) onFound({ id: user.id, name: user.name ?? null, email: email.trim() }, () => setEmail(''))
        else setNotFound({ message: t('No user has this address.'), fields: [] })
      },
    })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Field label={label} name="email">
        {(props) => (
          <input
            {...props}
            type="email"
            autoComplete="off"
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
        )}
      </Field>
      <ProblemText problem={notFound ?? problem} />
      <div className="actions">
        <button type="submit" className="button" disabled={email.trim() === '' || isRunning}>
          {submitLabel}
        </button>
      </div>
    </form>
  )
}
