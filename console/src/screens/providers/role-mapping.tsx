import './providers.css'
import '../applications/claim-mappings.css'
import { type FormEvent, Suspense, useState } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { roleMappingQuery } from '../../generated/roleMappingQuery.graphql.ts'
import type { roleMappingUpdateMutation } from '../../generated/roleMappingUpdateMutation.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { t } from '../../words/words.ts'

type Entry = { readonly value: string; readonly appRoleId: string }
/** A provider of an organization, with the roles that it gives. */
type MappedProvider = {
  readonly id: string
  readonly name: string
  readonly updatedAt: string
  readonly roleClaim?: string | null
  readonly claimRoles: readonly Entry[]
}

/** The roles that members get by a claim of a provider, and a dialog that changes them. */
export function RoleMapping({
  provider,
  organizationId,
  mayWrite,
}: {
  provider: MappedProvider
  organizationId: string
  mayWrite: boolean
}) {
  const [isOpen, setIsOpen] = useState(false)
  const { name, roleClaim, claimRoles } = provider
  const values = [...new Set(claimRoles.map(({ value }) => value))]
  return (
    <div className="role-mapping">
      {values.length === 0 ? (
        <p className="empty">{t('No claim gives roles.')}</p>
      ) : (
        <p>
          {t('These values of {claim} give roles:', { claim: roleClaim ?? '' })}{' '}
          {values.map((value) => (
            <code key={value} className="badge">
              {value}
            </code>
          ))}
        </p>
      )}
      <div className="actions">
        <button type="button" className="button" onClick={() => setIsOpen(true)}>
          {mayWrite ? t('Change the mapping') : t('Show the mapping')}
        </button>
      </div>
      {isOpen && (
        <Dialog title={t('Roles by a claim of {name}', { name })} onClose={() => setIsOpen(false)}>
          <Suspense fallback={<ListSkeleton />}>
            <MappingForm
              {...{ provider, organizationId, mayWrite }}
              onClose={() => setIsOpen(false)}
              onSaved={() => setIsOpen(false)}
            />
          </Suspense>
        </Dialog>
      )}
    </div>
  )
}

/** The form sends what is in it, unless somebody else has changed the provider since it was opened. */
function MappingForm({
  provider,
  organizationId,
  mayWrite,
  onSaved,
  onClose,
}: Parameters<typeof RoleMapping>[0] & { onSaved: () => void; onClose: () => void }) {
  const { organization } = useLazyLoadQuery<roleMappingQuery>(
    graphql`
      query roleMappingQuery($organizationId: ID!) {
        organization(id: $organizationId) {
          appRoles(first: 1000) {
            nodes {
              id
              name
            }
          }
        }
      }
    `,
    { organizationId },
    { fetchPolicy: 'store-and-network' },
  )
  const [{ id: idpId, updatedAt, claimRoles }] = useState(provider)
  const [rows, setRows] = useState<readonly Entry[]>(claimRoles)
  const { run, isRunning, problem } = useProblemMutation<roleMappingUpdateMutation>(graphql`
    mutation roleMappingUpdateMutation($input: UpdateIdentityProviderInput!) {
      updateIdentityProvider(input: $input) {
        ... on UpdateIdentityProviderPayload {
          identityProvider {
            id
            updatedAt
            roleClaim
            claimRoles {
              value
              appRoleId
            }
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const roles = organization?.appRoles?.nodes ?? []
  const set = (index: number, change: Partial<Entry>) =>
    setRows(rows.map((row, place) => (place === index ? { ...row, ...change } : row)))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const roleClaim = readText(new FormData(event.currentTarget), 'roleClaim') || null
    const input = { idpId, expectedUpdatedAt: updatedAt, roleClaim, claimRoles: [...rows] }
    run({ input }, () => {
      notify(t('Saved.'))
      onSaved()
    })
  }
  return (
    <form onSubmit={submit} noValidate>
      <p className="hint">
        {t('Each sign-in gives exactly the roles that the claim names. Roles that were given by hand stay.')}
      </p>
      <fieldset className="plain" disabled={!mayWrite} aria-label={t('Roles by a claim')}>
        <Field
          label={t('Claim')}
          name="roleClaim"
          hint={t('Such as groups or realm_access.roles.')}
          problem={problem}
        >
          {(props) => (
            <input {...props} autoComplete="off" spellCheck={false} defaultValue={provider.roleClaim ?? ''} />
          )}
        </Field>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their places
          <fieldset key={index} className="mapping" aria-label={row.value || t('New value')}>
            <Field label={t('Value')} name={`claimRoles.${index}.value`} problem={problem}>
              {(props) => (
                <input
                  {...props}
                  autoComplete="off"
                  spellCheck={false}
                  value={row.value}
                  onChange={({ target }) => set(index, { value: target.value })}
                />
              )}
            </Field>
            <Field label={t('Role')} name={`claimRoles.${index}.appRoleId`} problem={problem}>
              {(props) => (
                <select
                  {...props}
                  value={row.appRoleId}
                  onChange={({ target }) => set(index, { appRoleId: target.value })}
                >
                  {!roles.some(({ id }) => id === row.appRoleId) && (
                    <option value={row.appRoleId}>{row.appRoleId}</option>
                  )}
                  {roles.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <button
              type="button"
              className="button quiet"
              aria-label={t('Remove {name}', { name: row.value || t('New value') })}
              onClick={() => setRows(rows.filter((_, place) => place !== index))}
            >
              {t('Remove')}
            </button>
          </fieldset>
        ))}
        <button
          type="button"
          className="button quiet"
          onClick={() => setRows([...rows, { value: '', appRoleId: roles[0]?.id ?? '' }])}
        >
          {t('Add a value')}
        </button>
      </fieldset>
      <ProblemText problem={problem} shown={rows.length > 0 ? ['roleClaim', 'claimRoles'] : ['roleClaim']} />
      <div className="actions">
        {mayWrite && (
          <button type="submit" className="button" disabled={isRunning}>
            {t('Save')}
          </button>
        )}
        <button type="button" className="button quiet" onClick={onClose}>
          {t('Cancel')}
        </button>
      </div>
    </form>
  )
}
