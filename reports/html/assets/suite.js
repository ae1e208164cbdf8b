'use strict';
// Search and filter of the runs' table. What is chosen stays in the address,
// so that a link can be passed on.
const rows = [...document.querySelectorAll('#table tbody tr')];
const search = document.getElementById('search'), filter = document.getElementById('filter'), shown = document.getElementById('shown');
const texts = rows.map(r => r.textContent.toLowerCase());

function apply() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), want = filter.value;
  let count = 0;
  rows.forEach((r, i) => {
    const fits = words.every(w => texts[i].includes(w)) &&
      (!want || (want === 'unexpected' ? r.dataset.expected === 'false' : r.dataset.verdict === want));
    r.hidden = !fits;
    if (fits) count++;
  });
  shown.textContent = count === rows.length ? rows.length + ' runs' : count + ' of ' + rows.length + ' runs';
  const state = new URLSearchParams();
  if (search.value) state.set('search', search.value);
  if (want) state.set('show', want);
  history.replaceState(null, '', state.size ? '#' + state : location.pathname);
}

const begin = new URLSearchParams(location.hash.slice(1));
search.value = begin.get('search') || '';
filter.value = begin.get('show') || '';
search.addEventListener('input', apply);
filter.addEventListener('change', apply);
document.addEventListener('keydown', e => {
  if (e.key === '/' && e.target !== search) {
    e.preventDefault();
    search.focus();
  }
});
apply();
document.documentElement.dataset.ready = performance.now();
