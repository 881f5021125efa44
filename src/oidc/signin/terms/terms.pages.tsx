import type { VNode } from 'preact'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../../pages/page-shell.pages.tsx'
import type { PagePerson } from '../../../pages/person.pages.tsx'
import { type PageTerms, TermsLinks } from '../../../sign-up/account-fields.pages.tsx'
import { CancelForm } from '../cancel.pages.tsx'
import { SignedInAs } from '../consent.pages.tsx'

type TermsPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  person: PagePerson
  terms: PageTerms
  /** The user has agreed to another version. */
  isUpdate: boolean
  error?: string | null
}

/**
 * Asks a signed-in user to agree to the terms of use. Posts `step=agree` and the version that is shown, `step=switch`
 * or `step=cancel`.
 */
export const TermsPage = ({
  tenant,
  client,
  interaction,
  person,
  terms,
  isUpdate,
  error,
}: TermsPageProps): VNode => (
  <PageShell
    title={isUpdate ? 'The terms of use have changed' : 'Terms of use'}
    lead={
      <>
        Read the terms of use of <BidiText>{getTenantName(tenant)}</BidiText> and agree to continue.
      </>
    }
    tenant={tenant}
    client={client}
    isError={Boolean(error)}
  >
    {error && <ErrorMessage>{error}</ErrorMessage>}
    <SignedInAs interaction={interaction} person={person} />
    <p>
      <TermsLinks terms={terms} />
    </p>
    <StepForm interaction={interaction} step="agree" class="stack">
      <input type="hidden" name="terms-version" value={terms.termsVersion ?? ''} />
      <button type="submit" name="terms" value="on" class="primary">
        Agree and continue
      </button>
    </StepForm>
    <div class="alternatives">
      <CancelForm interaction={interaction} />
    </div>
  </PageShell>
)
