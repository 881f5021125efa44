import { IS_SYSTEM } from '../../config.ts'
import {
  CheckSetting,
  ChoiceSetting,
  DurationSetting,
  InstantSetting,
  LinesSetting,
  NumberSetting,
  SelectionSetting,
  TextSetting,
} from '../../parts/setting-fields.tsx'
import { SettingsForm, useSettings } from '../../parts/settings-form.tsx'
import { SIGN_IN_METHODS } from '../../parts/sign-in-methods.ts'
import { language, t } from '../../words/words.ts'
import { describeSignIn } from './describe-sign-in.ts'
import { SignUpFields } from './sign-up-fields.tsx'

const CHANNELS = { EMAIL: t('E-mail'), SMS: t('Text message') }
const SIGN_UP = {
  OFF: t('Created by administrators'),
  OPEN: t('Anybody'),
  DOMAINS: t('Addresses of some domains'),
  INVITATION: t('By invitation'),
}
const SECOND_FACTOR = {
  OFF: t('Nobody'),
  IF_ENROLLED: t('Users who have an authenticator app'),
  REQUIRED: t('Everybody'),
}
const ROLES = {
  admin: t('Administrator'),
  support: t('Support'),
  auditor: t('Auditor'),
  ...(IS_SYSTEM && { operator: t('Operator') }),
}
const STAY_SIGNED_IN = {
  ALWAYS: t('Keep the sign-in'),
  ASK: t('Ask the person'),
  OFF: t('Forget the sign-in'),
}

const countryNames = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })

/** The names of country codes; those that are none are left out. */
const describeCountries = (codes: readonly string[]): string =>
  codes
    .filter((code) => /^[A-Z]{2}$/.test(code))
    .map((code) => countryNames.of(code))
    .filter(Boolean)
    .join(', ')

function Sections() {
  const { values } = useSettings()
  return (
    <>
      <p className="card lead" aria-live="polite">
        {describeSignIn(values)}
      </p>
      <div className="setting-cards">
        <section className="card">
          <h2>{t('Methods')}</h2>
          <SelectionSetting
            name="signInMethods"
            options={SIGN_IN_METHODS}
            isOrdered
            hint={t('The page offers them in this order.')}
          />
          <SelectionSetting name="passcodeChannels" options={CHANNELS} />
          <CheckSetting name="offerPasskey" hint={t('After another method, once in 30 days.')} />
        </section>
        <section className="card">
          <h2>{t('Sign-up')}</h2>
          <ChoiceSetting name="signUp" options={SIGN_UP} />
          {values.signUp === 'DOMAINS' && (
            <LinesSetting name="signUpDomains" hint={t('One a line. A subdomain is another domain.')} />
          )}
          <SignUpFields />
          <DurationSetting name="invitationLifetimeSeconds" />
        </section>
        <section className="card">
          <h2>{t('Terms')}</h2>
          <TextSetting
            name="termsUrl"
            type="url"
            placeholder="https://"
            hint={t('A new user agrees to them.')}
          />
          <TextSetting
            name="termsVersion"
            hint={t('Another version asks everybody to agree, at the next sign-in.')}
          />
          <TextSetting name="privacyUrl" type="url" placeholder="https://" />
        </section>
        <section className="card">
          <h2>{t('Second factor')}</h2>
          <ChoiceSetting
            name="secondFactor"
            options={SECOND_FACTOR}
            hint={t('A passkey is two factors by itself.')}
          />
          <SelectionSetting
            name="secondFactorRoles"
            options={ROLES}
            hint={t('These present one, whatever is chosen above.')}
          />
          <DurationSetting
            name="recoveryWaitingTime"
            hint={t('The user can cancel the recovery until then. 0 is at once.')}
          />
        </section>
        <section className="card">
          <h2>{t('Sessions and accounts')}</h2>
          <ChoiceSetting name="staySignedIn" options={STAY_SIGNED_IN} />
          <DurationSetting name="sessionIdleSeconds" />
          <DurationSetting name="sessionLifetimeSeconds" />
          <CheckSetting name="newDeviceNotice" hint={t('Once for each browser.')} />
          <NumberSetting
            name="accountDeletionDays"
            hint={t('After a user has asked for it. 0: users cannot delete their accounts.')}
          />
          <InstantSetting
            name="migrationEndsAt"
            hint={t('Imported users sign in with the password of their former system once. Empty: never.')}
          />
          <TextSetting name="proofUrl" hint={t('For users whose hash the former system does not give.')} />
        </section>
        <section className="card">
          <h2>{t('Text messages')}</h2>
          <LinesSetting
            name="smsCountries"
            hint={t('Codes of ISO 3166-1, one a line; all countries when empty. {countries}', {
              countries: describeCountries(values.smsCountries),
            })}
          />
          <TextSetting
            name="phoneCountry"
            hint={t('Such as CH. {country}', { country: describeCountries([values.phoneCountry ?? '']) })}
          />
          <NumberSetting name="smsDailyLimit" hint={t('0 sends none.')} />
          <NumberSetting
            name="smsPrefixLimit"
            hint={t('Numbers that differ in the last four digits only, and whose codes are not used.')}
          />
        </section>
        <section className="card">
          <h2>{t('Limits')}</h2>
          <NumberSetting
            name="networkCodeLimit"
            hint={t('Of browsers in which the address did not sign in before.')}
          />
          <NumberSetting name="networkFailureLimit" hint={t('And as many rejected passkeys.')} />
        </section>
      </div>
    </>
  )
}

/** The settings of the sign-in, as a sentence and as a form. */
export const SignInScreen = () => (
  <SettingsForm title={t('Sign-in')}>
    <Sections />
  </SettingsForm>
)
