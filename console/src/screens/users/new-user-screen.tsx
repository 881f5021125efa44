import './users.css'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { CreateUserInput, newUserScreenMutation } from '../../generated/newUserScreenMutation.graphql.ts'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import {
  findJsonProblems,
  GROUPS,
  ProfileFields,
  SHOWN_BY_FIELDS,
  toInput,
  type Values,
} from './profile-fields.tsx'

/** Creates a user. */
export function NewUserScreen() {
  const navigate = useNavigate()
  const [entered, setEntered] = useState<Values>({})
  // The screen of the user may take a while.
  const [isCreated, setIsCreated] = useState(false)
  const create = useProblemMutation<newUserScreenMutation>(graphql`
    mutation newUserScreenMutation($input: CreateUserInput!) {
      createUser(input: $input) {
        ... on CreateUserPayload {
          user {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const mayCreate = useMay('users:write')
  const broken = findJsonProblems(entered)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (broken || isCreated) return
    create.run({ input: toInput(entered) as CreateUserInput }, ({ createUser: created }) => {
      setIsCreated(true)
      notify(t('The user is created.'))
      if (created && 'user' in created && created.user)
        void navigate({ to: '/users/$userId', params: { userId: created.user.id } })
    })
  }
  const problem = broken ?? create.problem
  if (!mayCreate) return <p className="empty">{t('You may not create users.')}</p>
  return (
    <section className="screen user-screen">
      <header className="screen-head">
        <h1>{t('New user')}</h1>
      </header>
      <form onSubmit={submit} noValidate className="card profile">
        <ProfileFields
          groups={GROUPS}
          values={entered}
          problem={problem}
          onChange={(name, text) => setEntered((former) => ({ ...former, [name]: text }))}
        />
        <div className="foot">
          <ProblemText problem={problem} shown={SHOWN_BY_FIELDS} />
          <div className="actions">
            <button
              type="submit"
              className="button"
              disabled={create.isRunning || isCreated || broken !== null}
            >
              {t('Create user')}
            </button>
          </div>
        </div>
      </form>
    </section>
  )
}
