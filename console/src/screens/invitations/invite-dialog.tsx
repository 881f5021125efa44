import { type FormEvent, useEffect, useRef, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { inviteDialogMutation } from '../../generated/inviteDialogMutation.graphql.ts'
import type { roleChoice_query$key } from '../../generated/roleChoice_query.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import type { Problem } from '../../parts/result.ts'
import { t, tCount } from '../../words/words.ts'
import { RoleChoice } from '../roles/role-choice.tsx'

/** People of one go; each gets a mail. */
const MAX_PEOPLE = 200

type Result = { person: string; problem: string | null }
export type Draft = {
  people: string
  roles: string[]
  note: string
  results: readonly Result[]
}
export const NO_DRAFT: Draft = { people: '', roles: [], note: '', results: [] }

/** The people of a pasted text, each once: addresses by line, comma or semicolon, also as `Ada <ada@example.com>`. */
const splitPeople = (text: string): string[] => [
  ...new Set(
    text
      .split(/[\n,;]+/)
      .map((person) => person.trim())
      .filter(Boolean),
  ),
]

const readPerson = (person: string): { email: string; name: string | undefined } => {
  const [, name, email] = /^"?([^"<]*?)"?\s*<([^<>]*)>$/.exec(person) ?? []
  return { email: email ?? person, name: name || undefined }
}

const describeProblem = ({ message, fields }: Problem): string =>
  fields.length > 0
    ? fields
        .map(({ field, description }) => (field === 'email' ? description : `${field} ${description}`))
        .join('; ')
    : message

/** Those who could not be invited come first. */
const byProblem = (one: Result, other: Result): number =>
  Number(other.problem !== null) - Number(one.problem !== null)

/** Invites several people, one after the other. Those who could not be invited stay in the field, with the reason. */
export function InviteDialog({
  query,
  draft,
  onChange,
  onInvited,
  onClose,
}: {
  query: roleChoice_query$key
  draft: Draft
  onChange: (change: (former: Draft) => Draft) => void
  onInvited: () => void
  onClose: () => void
}) {
  const [done, setDone] = useState<number | null>(null)
  // Closing the dialog stops after the present person; those who remain stay in the draft.
  const isStopped = useRef(false)
  useEffect(() => {
    isStopped.current = false
    return () => {
      isStopped.current = true
    }
  }, [])
  const people = splitPeople(draft.people)
  const invite = useProblemMutation<inviteDialogMutation>(graphql`
    mutation inviteDialogMutation($input: CreateInvitationInput!) {
      createInvitation(input: $input) {
        ... on CreateInvitationPayload {
          invitation {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const inviteOne = (person: string): Promise<Problem | null> =>
    new Promise((resolve) =>
      invite.run(
        {
          input: {
            ...readPerson(person),
            roles: draft.roles,
            note: draft.note.trim() || undefined,
          },
        },
        () => resolve(null),
        resolve,
      ),
    )
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (people.length === 0 || people.length > MAX_PEOPLE || done !== null) return
    onChange((former) => ({ ...former, people: people.join('\n'), results: [] }))
    for (const [index, person] of people.entries()) {
      if (isStopped.current) break
      setDone(index)
      const problem = await inviteOne(person)
      const result = { person, problem: problem && describeProblem(problem) }
      onChange((former) => ({
        ...former,
        people: problem
          ? former.people
          : splitPeople(former.people)
              .filter((other) => other !== person)
              .join('\n'),
        results: [...former.results, result],
      }))
    }
    setDone(null)
    onInvited()
  }
  const failed = draft.results.filter(({ problem }) => problem !== null).length
  return (
    <Dialog title={t('Invite people')} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <Field
          label={t('E-mail addresses')}
          name="people"
          hint={
            people.length > MAX_PEOPLE
              ? t('{count} people. At most {limit} are invited in one go.', {
                  count: people.length,
                  limit: MAX_PEOPLE,
                })
              : tCount(
                  people.length,
                  'One a line, or separated by commas. {count} person.',
                  'One a line, or separated by commas. {count} people.',
                )
          }
        >
          {(props) => (
            <textarea
              {...props}
              rows={6}
              spellCheck={false}
              value={draft.people}
              readOnly={done !== null}
              onChange={({ target }) => onChange((former) => ({ ...former, people: target.value }))}
            />
          )}
        </Field>
        <div role="status">
          {draft.results.length > 0 && (
            <>
              <p>
                {t('{count} invited.', { count: draft.results.length - failed })}{' '}
                {failed > 0 &&
                  tCount(
                    failed,
                    'One is not: correct what is still in the field, and invite again.',
                    '{count} are not: correct what is still in the field, and invite again.',
                  )}
              </p>
              <ul className="results">
                {draft.results.toSorted(byProblem).map(({ person, problem }) => (
                  <li key={person}>
                    <span className={`badge ${problem === null ? 'calm' : 'danger'}`}>
                      {problem === null ? t('invited') : t('not invited')}
                    </span>
                    <span>{person}</span>
                    {problem !== null && <span className="wrong">{problem}</span>}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
        <fieldset className="plain choices" disabled={done !== null}>
          <legend>{t('Roles that they get')}</legend>
          <RoleChoice
            query={query}
            chosen={draft.roles}
            hasWords={false}
            onChange={(roles) => onChange((former) => ({ ...former, roles }))}
          />
        </fieldset>
        <Field label={t('Note for administrators')} name="note">
          {(props) => (
            <input
              {...props}
              maxLength={200}
              autoComplete="off"
              value={draft.note}
              onChange={({ target }) => onChange((former) => ({ ...former, note: target.value }))}
            />
          )}
        </Field>
        <div className="actions">
          <button
            type="submit"
            className="button"
            disabled={people.length === 0 || people.length > MAX_PEOPLE || done !== null}
          >
            {done === null
              ? tCount(people.length, 'Invite {count} person', 'Invite {count} people')
              : t('Inviting {done} of {count}…', { done: done + 1, count: people.length })}
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            {draft.results.length > 0 ? t('Done') : t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
