import type { FormEvent } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { organizationPolicy_organization$key } from '../../generated/organizationPolicy_organization.graphql.ts'
import type {
  organizationPolicyMutation,
  SignInMethod,
} from '../../generated/organizationPolicyMutation.graphql.ts'
import { CheckField, Field, ProblemText, readLines, readText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { SIGN_IN_METHODS } from '../../parts/sign-in-methods.ts'
import { t } from '../../words/words.ts'

const METHODS = Object.entries(SIGN_IN_METHODS) as [SignInMethod, string][]
const HOUR_SECONDS = 3600

/** What an organization demands of sign-ins, beyond what the tenant does. */
export function OrganizationPolicy({
  organization,
  mayWrite,
  onChange,
}: {
  organization: organizationPolicy_organization$key
  mayWrite: boolean
  onChange: () => void
}) {
  const { id, updatedAt, signInMethods, requireSecondFactor, sessionLifetimeSeconds, allowedNetworks } =
    useFragment(
      graphql`
        fragment organizationPolicy_organization on Organization {
          id
          updatedAt
          signInMethods
          requireSecondFactor
          sessionLifetimeSeconds
          allowedNetworks
        }
      `,
      organization,
    )
  const { run, isRunning, problem } = useProblemMutation<organizationPolicyMutation>(graphql`
    mutation organizationPolicyMutation($input: UpdateOrganizationInput!) {
      updateOrganization(input: $input) {
        ... on UpdateOrganizationPayload {
          organization {
            ...organizationPolicy_organization
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const hours = readText(form, 'sessionLifetimeSeconds')
    const input = {
      organizationId: id,
      signInMethods: METHODS.map(([name]) => name).filter((name) => form.has(name)),
      requireSecondFactor: form.has('requireSecondFactor'),
      sessionLifetimeSeconds: hours === '' ? null : Math.round(Number(hours) * HOUR_SECONDS),
      allowedNetworks: readLines(form, 'allowedNetworks'),
    }
    run({ input }, () => {
      notify(t('Saved.'))
      onChange()
    })
  }
  const hours = sessionLifetimeSeconds == null ? '' : sessionLifetimeSeconds / HOUR_SECONDS
  return (
    <form className="card" key={updatedAt} onSubmit={submit} noValidate>
      <h2>{t('Rules of sign-in')}</h2>
      <p className="hint">{t('Of what the tenant and the organization demand, the stricter holds.')}</p>
      <fieldset disabled={!mayWrite}>
        <legend>{t('Permitted methods; all without a choice')}</legend>
        {METHODS.map(([name, label]) => (
          <CheckField
            key={name}
            name={name}
            label={label}
            defaultChecked={signInMethods?.includes(name) ?? false}
          />
        ))}
      </fieldset>
      <CheckField
        name="requireSecondFactor"
        label={t('Demand two factors')}
        hint={t('A passkey is two factors by itself.')}
        problem={problem}
        defaultChecked={requireSecondFactor ?? false}
        disabled={!mayWrite}
      />
      <Field
        label={t('Hours until a new sign-in')}
        name="sessionLifetimeSeconds"
        hint={t('Empty: as the tenant says.')}
        problem={problem}
      >
        {(props) => (
          <input {...props} type="number" min="0" step="any" defaultValue={hours} disabled={!mayWrite} />
        )}
      </Field>
      <Field
        label={t('Permitted networks')}
        name="allowedNetworks"
        hint={t('One a line, such as 203.0.113.0/24. Empty: all.')}
        problem={problem}
      >
        {(props) => (
          <textarea
            {...props}
            rows={3}
            defaultValue={allowedNetworks?.join('\n') ?? ''}
            disabled={!mayWrite}
          />
        )}
      </Field>
      <ProblemText
        problem={problem}
        shown={['requireSecondFactor', 'sessionLifetimeSeconds', 'allowedNetworks']}
      />
      {mayWrite && (
        <div className="actions">
          <button type="submit" className="button" disabled={isRunning}>
            {t('Apply the rules')}
          </button>
        </div>
      )}
    </form>
  )
}
