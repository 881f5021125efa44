import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { definedRoleDeleteMutation } from '../../generated/definedRoleDeleteMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useLacks, useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { GiveRole } from './give-role.tsx'
import { Permits } from './permits.tsx'
import { type DefinedRole, type PermittedScope, RoleDialog } from './role-dialog.tsx'

/** A management role that the tenant has defined. */
export function DefinedRoleCard({
  role,
  scopes,
  onChange,
}: {
  role: DefinedRole
  /** All scopes of the tenant. */
  scopes: readonly PermittedScope[]
  onChange: () => void
}) {
  const { id, name, description } = role
  const [isOpen, setIsOpen] = useState(false)
  const permitted = scopes.filter(({ scope }) => role.scopes.includes(scope))
  const lacksScope = useLacks()
  const isWithinReach = !lacksScope(permitted)
  const mayWrite = useMay('roles:write') && isWithinReach
  const mayGive = useMay('users:write') && isWithinReach
  const remove = useProblemMutation<definedRoleDeleteMutation>(graphql`
    mutation definedRoleDeleteMutation($managementRoleId: ID!) {
      deleteManagementRole(input: { managementRoleId: $managementRoleId }) {
        ... on DeleteManagementRolePayload {
          deletedManagementRoleId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <section className="card role defined" aria-label={name}>
      <h2>{name}</h2>
      {description && <p>{description}</p>}
      <Permits scopes={permitted} />
      <div className="actions">
        <Link to="/users" search={{ role: name }} className="button quiet">
          {t('Who has it')}
        </Link>
        {mayWrite && (
          <>
            <button type="button" className="button quiet" onClick={() => setIsOpen(true)}>
              {t('Change')}
            </button>
            <ConfirmedButton
              label={t('Delete')}
              title={t('Delete {name}?', { name })}
              consequence={
                <p>{t('A role that somebody has, or would get by an invitation, is not deleted.')}</p>
              }
              name={name}
              isRunning={remove.isRunning}
              problem={remove.problem}
              onConfirm={(close) =>
                remove.run({ managementRoleId: id }, () => {
                  close()
                  notify(t('{name} is deleted.', { name }))
                  onChange()
                })
              }
            />
          </>
        )}
      </div>
      {mayGive && <GiveRole role={name} onGiven={onChange} />}
      {isOpen && (
        <RoleDialog
          defined={role}
          scopes={scopes}
          onClose={() => {
            setIsOpen(false)
            onChange()
          }}
        />
      )}
    </section>
  )
}
