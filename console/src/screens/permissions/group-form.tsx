import { Suspense } from 'react'
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay/hooks'
import type { groupForm_group$data, groupForm_group$key } from '../../generated/groupForm_group.graphql.ts'
import type { groupFormMutation } from '../../generated/groupFormMutation.graphql.ts'
import type { groupFormQuery } from '../../generated/groupFormQuery.graphql.ts'
import { EditedForm } from '../../parts/edited-form.tsx'
import type { Saved } from '../../parts/edits.ts'
import { Field, type InputProps } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { t } from '../../words/words.ts'

type Values = { name: string; description: string; parentId: string }

const LABELS: Record<keyof Values, string> = {
  name: t('Name'),
  description: t('Description'),
  parentId: t('Nested in'),
}

const toSaved = (group: Omit<groupForm_group$data, ' $fragmentType'>): Saved<Values> => ({
  values: { name: group.name, description: group.description ?? '', parentId: group.parentId ?? '' },
  updatedAt: group.updatedAt,
})

/** The words of a group, and the group that it is nested in. */
export function GroupForm({ group: key, mayWrite }: { group: groupForm_group$key; mayWrite: boolean }) {
  const group = useFragment(
    graphql`
      fragment groupForm_group on Group {
        id
        name
        description
        parentId
        organizationId
        updatedAt
      }
    `,
    key,
  )
  const update = useProblemMutation<groupFormMutation>(graphql`
    mutation groupFormMutation($input: UpdateGroupInput!) {
      updateGroup(input: $input) {
        ... on UpdateGroupPayload {
          group {
            ...groupForm_group @relay(mask: false)
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { problem } = update
  return (
    <EditedForm<Values>
      saved={toSaved(group)}
      labels={LABELS}
      isRunning={update.isRunning}
      problem={problem}
      shown={Object.keys(LABELS)}
      onSave={({ parentId, ...words }, expectedUpdatedAt, settle) => {
        const given = parentId !== undefined && { parentId: parentId || null }
        update.run(
          { input: { groupId: group.id, expectedUpdatedAt, ...words, ...given } },
          ({ updateGroup }) => {
            settle(toSaved(updateGroup?.group ?? group))
            notify(t('The group is saved.'))
          },
        )
      }}
    >
      {(values, enter) => (
        <section className="card">
          <h2>{t('Settings')}</h2>
          <fieldset className="settings" disabled={!mayWrite} aria-label={t('Settings')}>
            {(['name', 'description'] as const).map((name) => (
              <Field key={name} label={LABELS[name]} name={name} problem={problem}>
                {(props) => (
                  <input
                    {...props}
                    autoComplete="off"
                    value={values[name]}
                    onChange={({ target }) => enter({ [name]: target.value })}
                  />
                )}
              </Field>
            ))}
            <Field label={LABELS.parentId} name="parentId" problem={problem}>
              {(props) => (
                <Suspense fallback={<select {...props} disabled />}>
                  <ParentChoice
                    props={props}
                    group={group}
                    value={values.parentId}
                    onChoose={(parentId) => enter({ parentId })}
                  />
                </Suspense>
              )}
            </Field>
          </fieldset>
        </section>
      )}
    </EditedForm>
  )
}

/** The other groups of the tenant itself, or of the organization. */
function ParentChoice({
  props,
  group,
  value,
  onChoose,
}: {
  props: InputProps
  group: Omit<groupForm_group$data, ' $fragmentType'>
  value: string
  onChoose: (id: string) => void
}) {
  const { id, organizationId } = group
  const { groups } = useLazyLoadQuery<groupFormQuery>(
    graphql`
      query groupFormQuery($filter: GroupFilter!) {
        groups(first: 1000, filter: $filter) {
          nodes {
            id
            name
          }
        }
      }
    `,
    { filter: organizationId ? { organizationId } : { owner: 'TENANT' } },
    { fetchPolicy: 'store-and-network' },
  )
  return (
    <select {...props} value={value} onChange={({ target }) => onChoose(target.value)}>
      <option value="">{t('no other group')}</option>
      {groups?.nodes.map(
        (other) =>
          other.id !== id && (
            <option key={other.id} value={other.id}>
              {other.name}
            </option>
          ),
      )}
    </select>
  )
}
