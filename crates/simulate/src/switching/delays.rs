//! The empty histories of delayed signals.

use crate::inputs::history::History;
use crate::switching::setup::Switched;
use crate::switching::starts::parameter_values;
use lgm_model::switching::Delay;
use std::sync::Arc;

/// Returns an empty history for each delay, with the time at these parameters.
pub(super) fn histories(setup: &Switched<'_>) -> Vec<Arc<History>> {
    let values = parameter_values(setup);
    let model = setup.events.model();
    let time = |delay: &Delay| {
        let found = (model.exprs).evaluate_unchecked(&[delay.time.0], &|symbol| values.get(&symbol).copied());
        Arc::new(History::new(found[0]))
    };
    model.switching.delays.iter().map(time).collect()
}
