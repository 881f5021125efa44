import type { VNode } from 'preact'
import { BidiText, ErrorMessage, getTenantName, StepForm } from '../../../pages/page-shell.pages.tsx'
import { SubmitButton } from '../../../pages/parts/controls.pages.tsx'
import { type PagePerson, SignedInAs } from '../../../pages/parts/person.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
import { type PageTerms, TermsLinks } from '../../../sign-up/account-fields.pages.tsx'
import { StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

type TermsPageProps = StepPageProps & {
  person: PagePerson
  terms: PageTerms
  /** The user has agreed to another version. */
  isUpdate: boolean
}

/**
 * Asks a signed-in user to agree to the terms of use. Posts `step=agree` and the version that is shown, `step=switch`
 * or `step=cancel`.
 */
export const TermsPage = ({ person, terms, isUpdate, ...page }: TermsPageProps): VNode => (
  <StepPage
    {...page}
    title={<Message of={isUpdate ? 'terms.updatedTitle' : 'terms.title'} />}
    lead={<Message of="terms.lead" tenant={<BidiText>{getTenantName(page.tenant)}</BidiText>} />}
    alternatives={null}
  >
    {page.error && <ErrorMessage>{page.error}</ErrorMessage>}
    <SignedInAs interaction={page.interaction} person={person} />
    <p>
      <TermsLinks terms={terms} />
    </p>
    <StepForm interaction={page.interaction} step="agree" class="stack">
      <input type="hidden" name="terms-version" value={terms.termsVersion ?? ''} />
      <SubmitButton name="terms" value="on" of="terms.submit" />
    </StepForm>
  </StepPage>
)
