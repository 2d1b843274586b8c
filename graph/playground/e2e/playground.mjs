// Opens the playground of a running bankgraph with the demo bank in headless Chromium and uses it
// as a person would. Prints one line for each thing it saw; exit status 1 with the reason otherwise.
//
//   BASE_URL=http://127.0.0.1:8080 [SCREENSHOT=playground.png] [CHROMIUM=/usr/bin/chromium] node e2e/playground.mjs

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const base = new URL(process.env.BASE_URL ?? 'http://127.0.0.1:8080');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// The examples that change something: each is run by whom it is for.
const writes = [
  'Ask for a change', 'Decide as the second person', 'Move money', 'Pay somebody at another bank', 'Pay over ACH', 'Pay abroad', 'Move the clock',
  'Let the bank repair a payment', 'Pay somebody who is on a list',
  'Be told of payments', 'Hold money on an account', 'Say who may debit an account', 'Ask for a rate',
  'Let another bank debit an account',
  'Let another bank ask for a payment', 'Let another bank answer a payment', 'Follow a notice of change',
];

const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 2 });
const dialog = page.getByRole('dialog', { name: 'Sign in to the playground' });
try {
  const outside = [];
  const complaints = [];
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (!['data:', 'blob:'].includes(protocol) && host !== base.host) outside.push(request.url());
  });
  page.on('console', (message) => {
    // The browser itself reports every answer of 400 and above; one wrong secret is part of the test.
    const expected = message.text().startsWith('Failed to load resource') && message.location().url.includes('/openid-connect/token');
    if (['error', 'warning'].includes(message.type()) && !expected) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));

  await page.goto(new URL('/playground', base).href);
  await dialog.waitFor();
  seen('the page opens with the sign-in box');

  await dialog.getByLabel('Tenant').fill('sandbox');
  await dialog.getByLabel('API key').fill('demo-staff');
  await dialog.getByLabel('Secret').fill('not the secret');
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.getByText('The key or the secret is wrong for tenant “sandbox”').waitFor();
  if (process.env.SCREENSHOT_REFUSED) await page.screenshot({ path: process.env.SCREENSHOT_REFUSED });
  seen('a wrong secret is explained');

  await dialog.getByRole('button', { name: 'demo-staff' }).click();
  await dialog.waitFor({ state: 'hidden' });
  const viewer = page.getByLabel('Signed in as');
  await viewer.getByText('sandbox').waitFor();
  await viewer.getByText('demo-staff').waitFor();
  seen('a demo key signs in; tenant and key are shown');

  await page.locator('.graphiql-query-editor').getByText('Customer360').first().waitFor();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.locator('.answer .http.good').waitFor({ timeout: 20_000 });
  await shows(page, /"legalName": "[^"]+"/);
  await page.locator('.answer').getByText('/v2/customers/1000001', { exact: true }).waitFor();
  seen('the first example runs and shows a customer, with the REST calls for it');
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });

  await page.getByRole('button', { name: 'Would this payment fit the limits?' }).click();
  await page.locator('.graphiql-query-editor').getByText('WouldItFit').first().waitFor();
  await page.keyboard.press('Control+Enter');
  await page.locator('.answer').getByText('/v1/customers/1000001/limits').first().waitFor();
  await shows(page, /"remaining": "/);
  seen('another example opens from the drawer and runs by the keyboard');

  const examples = page.getByRole('region', { name: 'Examples' });
  const titles = await examples.locator('li strong').allInnerTexts();
  assert.ok(titles.length >= 15, `${titles.length} examples are listed`);
  for (const title of titles.filter((title) => !writes.includes(title))) {
    const [answer] = await Promise.all([page.waitForResponse((response) => response.url().endsWith('/graphql')), run(page, title)]);
    assert.equal((await answer.json()).errors, undefined, title);
  }
  seen(`all ${titles.length - writes.length} examples that read run without errors`);

  const question = page.getByRole('dialog', { name: 'Run this mutation?' });
  await run(page, 'Ask for a change');
  await question.getByText('customer 1000001').waitFor();
  await question.getByRole('button', { name: 'Do not run' }).click();
  await says(page, /Nothing was changed/);
  await run(page, 'Ask for a change');
  await question.getByRole('button', { name: 'Run it' }).click();
  await shows(page, /"status": "PENDING"/);
  seen('a write asks first, and waits for a second person');

  await examples.getByRole('button', { name: 'Decide as the second person' }).getByText('it speaks for no person').waitFor();
  await changeTo('demo-linda');
  await run(page, 'Decide as the second person');
  await question.getByRole('button', { name: 'Run it' }).click();
  await shows(page, /"status": "APPROVED"/);
  seen('a second person decides; programs learn beforehand that they cannot');
  await run(page, 'Who changed this customer?');
  await shows(page, /"action": "\w+Role"/);
  seen('the history tells who did what');

  await changeTo('demo-partner');
  await examples.getByRole('button', { name: 'What was done in the bank?' }).getByText('it lacks View_Audit').waitFor();
  await run(page, 'Customer 360');
  await shows(page, /"legalName": "[^"]+"/);
  seen('a partner sees its own customer, and which examples need more than its key');

  await page.setViewportSize({ width: 390, height: 844 });
  const { wide, high } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    high: document.documentElement.scrollHeight - document.getElementById('root').offsetHeight,
  }));
  assert.deepEqual({ wide, high }, { wide: 390, high: 0 }, 'a narrow window shows nothing beside or below the page');
  const permissions = page.locator('.permissions');
  await permissions.locator('summary').click();
  const list = await permissions.locator('ul').boundingBox();
  assert.ok(list.x >= 0 && list.x + list.width <= 390, 'the permissions are not cut');
  await permissions.locator('summary').click();
  await page.evaluate(() => scrollTo(0, 0));
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.waitForFunction(() => document.querySelector('.graphiql-response').getBoundingClientRect().top < innerHeight / 3);
  if (process.env.SCREENSHOT_NARROW) await page.screenshot({ path: process.env.SCREENSHOT_NARROW });
  await page.setViewportSize({ width: 768, height: 1024 });
  await page.evaluate(() => scrollTo(0, 0));
  const editor = await page.locator('.graphiql-query-editor').boundingBox();
  assert.ok(editor.width > 500, `the query has ${editor.width} of 768`);
  if (process.env.SCREENSHOT_TABLET) await page.screenshot({ path: process.env.SCREENSHOT_TABLET });
  await page.setViewportSize({ width: 1440, height: 900 });
  seen('a narrow window has the panes below each other, and goes to the answer');

  await changeTo('demo-staff');
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  const docs = page.locator('.graphiql-plugin');
  await docs.getByText('Customer', { exact: true }).first().waitFor();
  if (process.env.SCREENSHOT_DOCS) await page.screenshot({ path: process.env.SCREENSHOT_DOCS });
  seen('the docs pane lists Customer');

  await page.getByRole('button', { name: 'Sign out' }).click();
  await dialog.waitFor();
  const stored = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]));
  assert.doesNotMatch(stored, /-secret|eyJ|Bearer/, 'neither secret nor token is stored');
  seen('signing out asks again; neither secret nor token was stored');

  assert.deepEqual(outside, [], 'requests to other hosts');
  assert.deepEqual(complaints, [], 'errors in the console');
  seen('no request left the host, no error stood in the console');
} finally {
  await browser.close();
}

function seen(what) {
  console.log(`ok  ${what}`);
}

/** Signs out, and in again with another key of the demo bank. */
async function changeTo(key) {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await dialog.getByRole('button', { name: key }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByLabel('Signed in as').getByText(key).waitFor();
}

/** Opens an example from the drawer and runs it. */
async function run(page, title) {
  await page.getByRole('region', { name: 'Examples' }).getByRole('button', { name: title }).click();
  await page.locator('.graphiql-query-editor .view-lines').waitFor();
  await page.keyboard.press('Control+Enter');
}

/** Waits until the answer holds the pattern. Monaco draws by frames and writes spaces as U+00A0. */
async function says(page, pattern) {
  const lines = page.locator('.graphiql-response .view-lines');
  let text;
  for (let tries = 0; tries < 100; tries++) {
    text = (await lines.innerText()).replaceAll('\u00a0', ' ');
    if (pattern.test(text)) break;
    await page.waitForTimeout(100);
  }
  assert.match(text, pattern);
  return text;
}

/** Waits likewise, for an answer without errors. */
async function shows(page, pattern) {
  assert.doesNotMatch(await says(page, pattern), /"errors"/);
}
