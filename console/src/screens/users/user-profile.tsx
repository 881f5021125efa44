import { type FormEvent, useEffect, useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { userProfile_user$data, userProfile_user$key } from '../../generated/userProfile_user.graphql.ts'
import type {
  UpdateUserInput,
  userProfileSaveMutation,
} from '../../generated/userProfileSaveMutation.graphql.ts'
import { dropSent } from '../../parts/edits.ts'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import type { Problem } from '../../parts/result.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import {
  FIELDS,
  findJsonProblems,
  GROUPS,
  type ProfileField,
  ProfileFields,
  SHOWN_BY_FIELDS,
  toInput,
  type Values,
} from './profile-fields.tsx'

/** The fields of a user as the texts that inputs have. */
function toValues(user: Omit<userProfile_user$data, ' $fragmentType'>): Values {
  const read = ({ name, kind }: ProfileField): string => {
    const [member = '', part] = name.split('.')
    const value = (user as Record<string, unknown>)[member]
    const field = part && value ? (value as Record<string, unknown>)[part] : part ? null : value
    if (kind === 'json') return JSON.stringify(field ?? {}, null, 2)
    return field === null || field === undefined ? '' : String(field)
  }
  return Object.fromEntries(FIELDS.map((field) => [field.name, read(field)]))
}

/** What was entered and is not saved, by user: another screen in between loses nothing. */
const drafts = new Map<string, { entered: Values; base: Values }>()

/**
 * The profile and the metadata of a user. When somebody else saves meanwhile, each field that both changed shows theirs and
 * mine, to be chosen.
 */
export function UserProfile({
  user: key,
  mayChange,
  onConflict,
}: {
  user: userProfile_user$key
  mayChange: boolean
  onConflict: () => void
}) {
  const user = useFragment(
    graphql`
      fragment userProfile_user on User {
        id
        updatedAt
        name
        givenName
        middleName
        familyName
        nickname
        preferredUsername
        email
        emailVerified
        phoneNumber
        phoneNumberVerified
        gender
        birthdate
        locale
        zoneinfo
        picture
        profile
        website
        address {
          formatted
          streetAddress
          locality
          region
          postalCode
          country
        }
        userMetadata
        appMetadata
      }
    `,
    key,
  )
  const save = useProblemMutation<userProfileSaveMutation>(graphql`
    mutation userProfileSaveMutation($input: UpdateUserInput!) {
      updateUser(input: $input) {
        ... on UpdateUserPayload {
          user {
            ...userProfile_user @relay(mask: false)
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const maySeeAppMetadata = useMay('users:read_app_metadata')
  const current = toValues(user)
  /** What was entered, and what the fields were when the first of it was. */
  const [entered, setEntered] = useState<Values>(() => drafts.get(user.id)?.entered ?? {})
  const [base, setBase] = useState<Values>(() => drafts.get(user.id)?.base ?? current)
  const [kept, setKept] = useState<Record<string, 'mine' | 'theirs'>>({})
  const isChanged = Object.keys(entered).length > 0
  const before = isChanged ? base : current
  useEffect(() => {
    if (isChanged) drafts.set(user.id, { entered, base })
    else drafts.delete(user.id)
  }, [user.id, isChanged, entered, base])
  const isTheirs = (name: string): boolean => current[name] !== before[name]
  const conflicts = Object.keys(entered).filter((name) => isTheirs(name) && current[name] !== entered[name])
  const others = isChanged ? Object.keys(current).filter((name) => isTheirs(name) && !(name in entered)) : []
  const broken = findJsonProblems(entered)
  const change = (name: string, text: string): void => {
    if (!isChanged) setBase(current)
    // The value of before is no entry, unless the save under way replaces it.
    const isEntry = save.isRunning || text !== before[name]
    setEntered(({ [name]: _, ...rest }) => (isEntry ? { ...rest, [name]: text } : rest))
  }
  const reset = () => {
    setEntered({})
    setKept({})
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const mine = Object.fromEntries(Object.entries(entered).filter(([name]) => kept[name] !== 'theirs'))
    if (Object.keys(mine).length === 0) return reset()
    const input = { ...toInput(mine), userId: user.id, expectedUpdatedAt: user.updatedAt } as UpdateUserInput
    save.run(
      { input },
      ({ updateUser }) => {
        setBase(toValues(updateUser?.user ?? user))
        setEntered((typed) => dropSent(typed, entered))
        setKept({})
        notify(t('The profile is saved.'))
      },
      ({ fields }) => fields.some(({ field }) => field === 'expectedUpdatedAt') && onConflict(),
    )
  }
  const isOutdated = save.problem?.fields.some(({ field }) => field === 'expectedUpdatedAt')
  const problem: Problem | null =
    broken ??
    (isOutdated
      ? { message: t('Somebody else saved meanwhile. Save again to add your changes.'), fields: [] }
      : save.problem)
  const isUndecided = conflicts.some((name) => !kept[name])
  const groups = GROUPS.map((group) => ({
    ...group,
    fields: group.fields.filter(({ name }) => name !== 'appMetadata' || maySeeAppMetadata),
  }))
  const labelOf = (name: string): string => FIELDS.find((field) => field.name === name)?.label ?? name
  return (
    <form onSubmit={submit} noValidate className="card profile">
      <fieldset disabled={!mayChange} className="plain">
        <legend className="hidden">{t('Profile')}</legend>
        <ProfileFields
          groups={groups}
          values={{ ...current, ...entered }}
          problem={problem}
          onChange={change}
        />
      </fieldset>
      <div className="foot">
        {others.length > 0 && (
          <p className="hint" role="status">
            {t('Somebody else has changed {fields} meanwhile. This is kept.', {
              fields: others.map(labelOf).join(', '),
            })}
          </p>
        )}
        {conflicts.length > 0 && (
          <section className="problem" role="alert" aria-label={t('Conflict')}>
            <p>{t('Somebody else saved other values meanwhile. Choose for each field, and save again.')}</p>
            {conflicts.map((name) => (
              <fieldset key={name} className="conflict">
                <legend>{labelOf(name)}</legend>
                {(['theirs', 'mine'] as const).map((side) => (
                  <label key={side}>
                    <input
                      type="radio"
                      name={`conflict-${name}`}
                      checked={kept[name] === side}
                      onChange={() => setKept((former) => ({ ...former, [name]: side }))}
                    />{' '}
                    {side === 'theirs' ? t('Theirs') : t('Mine')}:{' '}
                    <code>{(side === 'theirs' ? current[name] : entered[name]) || t('(empty)')}</code>
                  </label>
                ))}
              </fieldset>
            ))}
          </section>
        )}
        {conflicts.length === 0 && <ProblemText problem={problem} shown={SHOWN_BY_FIELDS} />}
        {mayChange ? (
          <div className="actions">
            <button
              type="submit"
              className="button"
              disabled={!isChanged || isUndecided || broken !== null || save.isRunning}
            >
              {conflicts.length > 0 ? t('Save again') : t('Save')}
            </button>
            <button type="button" className="button quiet" disabled={!isChanged} onClick={reset}>
              {t('Discard')}
            </button>
          </div>
        ) : (
          <p className="hint">{t('You may not change this user.')}</p>
        )}
      </div>
    </form>
  )
}
