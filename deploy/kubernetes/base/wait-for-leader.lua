-- Delays a request while no node leads, but for at most ten seconds.
core.register_action('wait_for_leader', { 'http-req' }, function(request)
  for _ = 1, 500 do
    if request.f:nbsrv('again') > 0 then return end
    core.msleep(20)
  end
end)
