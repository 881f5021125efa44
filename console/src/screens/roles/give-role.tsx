import { type FormEvent, useState } from 'react'
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay/hooks'
import type { giveRoleFindQuery } from '../../generated/giveRoleFindQuery.graphql.ts'
import type { giveRoleMutation } from '../../generated/giveRoleMutation.graphql.ts'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { type Problem, toProblem } from '../../parts/result.ts'
import { t } from '../../words/words.ts'

/** Gives a role to the user with an e-mail address. */
export function GiveRole({ role, onGiven }: { role: string; onGiven: () => void }) {
  const environment = useRelayEnvironment()
  const [problem, setProblem] = useState<Problem | null>(null)
  const give = useProblemMutation<giveRoleMutation>(graphql`
    mutation giveRoleMutation($userId: ID!, $roles: [String!]!) {
      setUserRoles(input: { userId: $userId, roles: $roles }) {
        ... on SetUserRolesPayload {
          user {
            id
            roles
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const email = readText(new FormData(form), 'email')
    setProblem(null)
    if (!email) return
    const find = graphql`
      query giveRoleFindQuery($email: EmailAddress!) {
        userByEmail(email: $email) {
          id
          name
          roles
        }
      }
    `
    fetchQuery<giveRoleFindQuery>(environment, find, { email })
      .toPromise()
      .then((found) => {
        const user = found?.userByEmail
        if (!user)
          return setProblem(toProblem(new Error(t('No user has this address. Invite the person instead.'))))
        give.run({ userId: user.id, roles: [...new Set([...user.roles, role])] }, () => {
          form.reset()
          notify(t('{name} is {role} now.', { name: user.name ?? email, role }))
          onGiven()
        })
      })
      .catch((error: Error) => setProblem(toProblem(error)))
  }
  return (
    <form className="give" onSubmit={submit}>
      <Field label={t('Give {role} to the user with the address', { role })} name="email">
        {(props) => <input {...props} type="email" autoComplete="off" />}
      </Field>
      <button type="submit" className="button quiet" disabled={give.isRunning}>
        {t('Give')}
      </button>
      <ProblemText problem={problem ?? give.problem} />
    </form>
  )
}
